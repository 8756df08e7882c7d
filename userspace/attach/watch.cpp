#include "userspace/attach/watch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "analysis/spared_probes.h"
#include "userspace/attach/attached_file.h"
#include "userspace/attach/cost_samples.h"
#include "userspace/attach/file_catalog.h"
#include "userspace/controller/interrupt.h"
#include "userspace/host/host.h"
#include "userspace/probes/watch_set.h"

namespace iotrace {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLookForTargets = std::chrono::milliseconds(200);

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::optional<Count> minus(const std::optional<Count>& now, const std::optional<Count>& before) {
  return now ? std::optional(*now - before.value_or(0)) : std::nullopt;
}

std::optional<double> minus(const std::optional<double>& now, const std::optional<double>& before) {
  return now ? std::optional(*now - before.value_or(0)) : std::nullopt;
}

// Counts since the watch began, in the form of an interval.
Interval sums_of(const Totals& totals) {
  Interval sums;
  if (const auto& faults = totals.faults) {
    if (faults->minor && faults->major) sums.faults = *faults->minor + *faults->major;
    if (faults->waited && faults->read) sums.waiting_faults = faults->waited->count + faults->read->count;
  }
  if (const auto& pages = totals.page_cache) {
    sums.added_pages = pages->added_pages;
    sums.evicted_pages = pages->evicted_pages;
    sums.refault_pages = pages->refault_pages;
  }
  if (totals.hints) {
    sums.hints = totals.hints->issued;
    sums.hints_rejected = totals.hints->rejected;
  }
  if (totals.syscalls) {
    sums.reads = 0;
    for (const SyscallCount& call : *totals.syscalls)
      if (call.name.starts_with("pread") || call.name.starts_with("read"))
        if (call.name != "readahead") *sums.reads += call.calls;
  }
  if (totals.block_io) sums.device_read_bytes = totals.block_io->read_bytes;
  if (const auto& time = totals.time) {
    sums.fault_wait_s = time->fault_wait_s;
    sums.read_wait_s = time->read_wait_s;
    sums.lock_wait_s = time->lock_wait_s;
  }
  return sums;
}

Interval difference(const Interval& now, const Interval& before) {
  Interval result;
  for (auto count : {&Interval::faults, &Interval::waiting_faults, &Interval::added_pages,
                     &Interval::evicted_pages, &Interval::refault_pages, &Interval::hints,
                     &Interval::hints_rejected, &Interval::reads, &Interval::device_read_bytes})
    result.*count = minus(now.*count, before.*count);
  for (auto time : {&Interval::fault_wait_s, &Interval::read_wait_s, &Interval::lock_wait_s})
    result.*time = minus(now.*time, before.*time);
  return result;
}

Totals totals_from(ProbeReadings&& readings) {
  return {.time = readings.time,
          .syscalls = std::move(readings.syscalls),
          .madvise = std::move(readings.madvise),
          .hints = readings.hints,
          .faults = std::move(readings.faults),
          .page_cache = readings.page_cache,
          .readahead = std::move(readings.readahead),
          .mmap_lock = std::move(readings.mmap_lock),
          .block_io = std::move(readings.block_io),
          .reclaim = std::move(readings.reclaim),
          .unavailable = std::move(readings.unavailable),
          .probes = std::move(readings.probes)};
}

class Watch {
public:
  Watch(const WatchRequest& request, Targets targets, std::unique_ptr<WatchSet> probes)
      : request_(request), targets_(std::move(targets)), probes_(std::move(probes)),
        page_bytes_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))),
        cost_(request.seconds, request.max_overhead_ratio) {
    record_.command = "attach";
    record_.iotrace = IOTRACE_VERSION;
    record_.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    record_.host = host_facts();
    record_.target.emplace().asked = targets_.asked();
    record_.target->expect_hints = request.expect_hints;
  }

  Result<RunRecord> run(const OnInterval& on_interval) {
    if (Status begun = probes_->begin(targets_.alive(), request_.follow); !begun) return begun.error();
    began_ = interval_began_ = Clock::now();
    walk();
    if (!probes_->asks_for_paths())
      note("paths of mappings are read from /proc/PID/maps: this kernel lets no BPF program ask for them");
    // The last interval is taken when nothing counts any more, whenever the end came.
    for (bool last = false; !last;) {
      const auto tick = interval_began_ + to_duration(request_.interval_s);
      wait_until(std::min(tick, end()));
      last = over();
      if (last) probes_->stop_counting();
      if (Status taken = take_interval(); !taken) return taken.error();
      if (Status shown = on_interval(record_, record_.intervals.back()); !shown) return shown.error();
    }
    if (Status taken = take_logs(); !taken) return taken.error();
    record_.partial = interrupted() && request_.seconds > 0;
    probes_->end();
    return std::move(record_);
  }

private:
  static Clock::duration to_duration(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  Clock::time_point end() const {
    return request_.seconds > 0 ? began_ + to_duration(request_.seconds) : Clock::time_point::max();
  }

  bool over() const { return interrupted() || Clock::now() >= end() || targets_.all_ended(); }

  // Ends early at an interrupt, and when all targets have ended. Children and newcomers join meanwhile.
  void wait_until(Clock::time_point until) {
    while (!interrupted() && !targets_.all_ended()) {
      look_at_cost();
      const auto left = until - Clock::now();
      if (left <= Clock::duration::zero()) return;
      std::vector<pollfd> ends;
      for (int fd : targets_.pidfds()) ends.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      const auto sample = std::max<Clock::duration>(cost_.next() - Clock::now(), Clock::duration::zero());
      const auto pause = std::min<Clock::duration>({left, kLookForTargets, sample});
      ::poll(ends.data(), ends.size(),
             static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count()));
      follow_targets();
    }
  }

  void follow_targets() {
    for (pid_t child : probes_->children()) targets_.add_child(child);
    for (pid_t pid : targets_.look())
      if (Status added = probes_->add_target(pid); !added) note(added.error().message);
    for (std::string& words : targets_.take_notes()) note(std::move(words));
  }

  void note(std::string words) {
    auto& notes = record_.target->notes;
    if (std::ranges::find(notes, words) == notes.end()) notes.push_back(std::move(words));
  }

  void walk() {
    if (Status walked = probes_->walk(catalog_); !walked) note(walked.error().message);
  }

  void switch_off(const std::string& probe, double ratio) {
    const std::string why = fmt::format("its programs took {:.1f} % of a processor, {} {:.1f} %", 100 * ratio,
                                        kOverLimit, 100 * request_.max_overhead_ratio);
    probes_->give_up(probe, why);
    note(fmt::format("the probe {} was switched off after {:.0f} s: {}", probe,
                     seconds_between(began_, Clock::now()), why));
  }

  // A probe that is dearer than the user allows is switched off and says so.
  void look_at_cost() {
    auto dear = cost_.look(*probes_);
    if (!dear)
      note("the probes' own cost is not known, and --max-overhead has no effect: " + dear.error().message);
    else
      for (const auto& [probe, ratio] : *dear) switch_off(probe, ratio);
  }

  Status take_interval() {
    const auto now = Clock::now();
    auto readings = probes_->totals();
    if (!readings) return readings.error();
    record_.totals = totals_from(std::move(*readings));
    const Interval sums = sums_of(*record_.totals);
    Interval interval = difference(sums, sums_before_);
    interval.begin_s = seconds_between(began_, interval_began_);
    interval.seconds = seconds_between(interval_began_, now);
    sums_before_ = sums;
    interval_began_ = now;
    record_.intervals.push_back(interval);
    record_.target->seconds = seconds_between(began_, now);
    if (record_.totals->faults) take_blocked_threads();
    return take_files_and_threads();
  }

  Status take_logs() {
    if (!record_.totals) return {};
    Totals& totals = *record_.totals;
    totals.stacks = probes_->stacks();
    if (totals.stacks) totals.stacks_dropped = probes_->stack_drops();
    auto log = probes_->events(catalog_);
    if (!log) return log.error();
    if (!*log) return {};
    totals.events_window_s = std::min((*log)->window_s, record_.target->seconds);
    totals.events = std::move((*log)->list);
    totals.events_dropped = (*log)->dropped;
    return {};
  }

  void take_blocked_threads() {
    if (record_.totals->time && record_.totals->time->fault_wait_s && record_.target->seconds > 0)
      record_.totals->faults->blocked_threads_avg =
          *record_.totals->time->fault_wait_s / record_.target->seconds;
  }

  // What became of hinted pages is known by file alone, and of all where no file was left out.
  void sum_hints() {
    if (!record_.totals->hints) return;
    Hints& all = *record_.totals->hints;
    for (const auto& [key, number] : {std::pair("hints.in_time_pages", &Hints::in_time_pages),
                                      std::pair("hints.late_pages", &Hints::late_pages),
                                      std::pair("hints.needless_pages", &Hints::needless_pages),
                                      std::pair("hints.useless_pages", &Hints::useless_pages),
                                      std::pair("hints.truncated_pages", &Hints::truncated_pages)}) {
      std::optional<Count> sum = 0;
      for (const AttachedFile& file : record_.files)
        if (file.hints)
          sum = sum && (*file.hints).*number ? std::optional(*sum + *((*file.hints).*number)) : std::nullopt;
      all.*number = sum;
      if (sum) record_.totals->unavailable.erase(key);
    }
  }

  Status take_files_and_threads() {
    record_.files.clear();
    auto files = probes_->files();
    if (!files) return files.error();
    auto threads = probes_->threads();
    if (!threads) return threads.error();
    if (!targets_.all_ended()) walk();

    std::set<std::uint64_t> seen;
    record_.files.reserve(files->size());
    for (const WatchedFile& file : *files) {
      record_.files.push_back(attached_file(file, catalog_.find(file.mapping), page_bytes_));
      leave_out_uncounted(record_.files.back(), *record_.totals);
      seen.insert(file.mapping);
    }
    const attach_losses losses = probes_->losses();
    if (losses.files) seen.merge(probes_->left_out());  // something happened on them, too
    for (const auto& [mapping, listed] : catalog_.files())
      if (!seen.contains(mapping) && !listed.mapped_bytes.empty())
        record_.files.push_back(quiet_file(listed, page_bytes_));
    if (losses.files == 0) sum_hints();
    sort_by_waiting(record_.files);
    record_.threads.clear();
    for (const WatchedThread& thread : *threads) {
      record_.threads.push_back(attached_thread(thread, monotonic_ns()));
      leave_out_uncounted(record_.threads.back(), *record_.totals);
    }
    sort_by_waiting(record_.threads);
    record_.target->files_left_out = losses.files;
    record_.target->threads_left_out = losses.threads;
    record_.target->processes = targets_.processes();
    if (losses.chunks)
      note(fmt::format("pages of {} folios found no room in the page tables: waste and refaults leave them "
                       "out",
                       losses.chunks));
    if (losses.files + losses.threads >= MOST_LEFT_OUT)
      note("more files and threads were left out than could be told apart: their numbers are a lower bound");
    if (losses.hint_files)
      note(fmt::format(
          "of {} hints the file could not be told, as a writer held mmap_lock: they are in the totals "
          "alone, and needless and cut-off pages are a lower bound",
          losses.hint_files));
    if (losses.targets) note(fmt::format("{} children found no room and were not watched", losses.targets));
    record_.target->observer_cpu_ratio = cost_.ratio();
    record_.target->observer_timed_s = cost_.seconds();
    return {};
  }

  const WatchRequest& request_;
  Targets targets_;
  std::unique_ptr<WatchSet> probes_;
  std::uint64_t page_bytes_;
  FileCatalog catalog_;
  RunRecord record_;
  Interval sums_before_;
  CostSamples cost_;
  Clock::time_point began_, interval_began_;
};

}

Result<RunRecord> watch(const WatchRequest& request, const OnInterval& on_interval) {
  auto targets = Targets::find(request.targets);
  if (!targets) return targets.error();
  auto probes = WatchSet::load(request.probes, request.logs);
  if (!probes) return probes.error();
  return Watch(request, std::move(*targets), std::move(*probes)).run(on_interval);
}

}
