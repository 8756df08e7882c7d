// The threads of an attach record: what each kind of them waited for, the longest faults, and mmap_lock.

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/wording_attach.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

constexpr std::size_t kLongest = 5;
constexpr std::size_t kHolders = 3;
constexpr std::size_t kPathWidth = 48;

using Wait = std::optional<double> AttachedThread::*;
constexpr std::array<Wait, 4> kWaits{&AttachedThread::fault_wait_s, &AttachedThread::read_wait_s,
                                     &AttachedThread::mmap_lock_wait_s, &AttachedThread::futex_wait_s};

// "search-12" -> "search-#"
std::string pattern_of(std::string_view name) {
  std::string out;
  for (char c : name)
    if (!std::isdigit(static_cast<unsigned char>(c)))
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  return out;
}

struct ThreadGroup {
  std::string pattern;
  std::vector<const AttachedThread*> threads;

  std::string name() const {
    const bool one_name = std::ranges::all_of(
        threads, [&](const AttachedThread* thread) { return thread->name == threads.front()->name; });
    const std::string text = printable(one_name ? threads.front()->name : pattern);
    return threads.size() > 1 ? fmt::format("{} x{}", text, threads.size()) : text;
  }
  // nullopt: not known of one of them.
  std::optional<double> seconds_of(Wait wait) const {
    double sum = 0;
    for (const AttachedThread* thread : threads) {
      if (!(thread->*wait)) return std::nullopt;
      sum += *(thread->*wait);
    }
    return sum;
  }
  double seconds() const {
    double sum = 0;
    for (const AttachedThread* thread : threads) sum += thread->seconds;
    return sum;
  }
  double waited_for_files() const {
    double sum = 0;
    for (Wait wait : {kWaits[0], kWaits[1], kWaits[2]}) sum += seconds_of(wait).value_or(0);
    return sum;
  }
  std::optional<Count> faults() const {
    Count sum = 0;
    for (const AttachedThread* thread : threads) {
      if (!thread->faults) return std::nullopt;
      sum += *thread->faults;
    }
    return sum;
  }
};

std::vector<ThreadGroup> groups_of(const RunRecord& record) {
  std::vector<ThreadGroup> groups;
  for (const AttachedThread& thread : record.threads) {
    if (!waited(thread)) continue;
    const std::string pattern = pattern_of(thread.name);
    auto same = std::ranges::find(groups, pattern, &ThreadGroup::pattern);
    if (same == groups.end()) same = groups.insert(groups.end(), {pattern, {}});
    same->threads.push_back(&thread);
  }
  std::ranges::stable_sort(groups, std::greater(), &ThreadGroup::waited_for_files);
  return groups;
}

std::string share_cell(std::optional<double> part_s, double whole_s) {
  if (!part_s || whole_s <= 0) return std::string(kNotAvailable);
  return *part_s > 0 ? percent(*part_s / whole_s) : "";
}

std::string thread_name(const RunRecord& record, std::uint32_t tid) {
  auto thread = std::ranges::find(record.threads, tid, &AttachedThread::tid);
  return thread == record.threads.end() ? fmt::format("{}", tid)
                                        : fmt::format("{} ({})", printable(thread->name), tid);
}

struct PlacedFault {
  LongFault fault;
  const AttachedFile* file = nullptr;
};

std::vector<PlacedFault> longest_faults(const RunRecord& record) {
  std::vector<PlacedFault> faults;
  auto known = [&](const LongFault& fault) {
    return std::ranges::any_of(faults, [&](const PlacedFault& other) {
      return other.fault.tid == fault.tid && other.fault.latency_ns == fault.latency_ns &&
             other.fault.offset_bytes == fault.offset_bytes;
    });
  };
  for (const AttachedFile& file : record.files)
    if (file.faults && file.faults->longest)
      for (const LongFault& fault : *file.faults->longest) faults.push_back({fault, &file});
  if (record.totals && record.totals->faults && record.totals->faults->longest)
    for (const LongFault& fault : *record.totals->faults->longest)
      if (!known(fault)) faults.push_back({fault});
  std::ranges::stable_sort(faults, std::greater(),
                           [](const PlacedFault& placed) { return placed.fault.latency_ns; });
  return faults;
}

}

AttachTable thread_table(const RunRecord& record, std::size_t top) {
  AttachTable table{
      .heading = "threads: share of their time in",
      .columns = {"thread", "faults that\nwaited", "faults", "reads", "mmap_lock", "futex", "all"}};
  const std::vector<ThreadGroup> groups = groups_of(record);
  double in_all = 0, left_out = 0;
  std::size_t threads_left_out = 0, working = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ThreadGroup& group = groups[i];
    const double seconds = group.seconds();
    in_all += group.waited_for_files();
    working += group.threads.size();
    if (i >= top) {
      left_out += group.waited_for_files();
      threads_left_out += group.threads.size();
      continue;
    }
    const std::optional<Count> faults = group.faults();
    std::vector<std::string> cells{group.name(), faults ? cell_count(*faults) : std::string(kNotAvailable)};
    std::optional<double> sum = 0;
    for (Wait wait : kWaits) {
      const auto part = group.seconds_of(wait);
      cells.push_back(share_cell(part, seconds));
      sum = sum && part ? std::optional(*sum + *part) : std::nullopt;
    }
    cells.push_back(share_cell(sum, seconds));
    table.add(std::move(cells));
  }
  if (groups.empty()) return {};
  if (threads_left_out > 0)
    table.sentences.push_back(fmt::format("and {}, {} of the waiting in faults, reads and for mmap_lock",
                                          counted(threads_left_out, "more thread"),
                                          percent(in_all > 0 ? left_out / in_all : 0)));
  if (record.threads.size() > working)
    table.sentences.push_back(fmt::format("{} did not wait for files or mmap_lock",
                                          counted(record.threads.size() - working, "other thread")));
  if (record.target && record.target->threads_left_out > 0)
    table.sentences.push_back(fmt::format("{} beyond the bound of the probes' table",
                                          counted(record.target->threads_left_out, "thread")));
  drop_empty_columns(table);
  return table;
}

AttachTable long_fault_table(const RunRecord& record) {
  AttachTable table{
      .heading = "the longest faults", .labels = 2, .columns = {"thread", "file", "offset", "took", "kind"}};
  const std::vector<PlacedFault> faults = longest_faults(record);
  for (std::size_t i = 0; i < std::min(kLongest, faults.size()); ++i) {
    const auto& [fault, file] = faults[i];
    table.add({thread_name(record, fault.tid),
               file ? shortened_path(printable(file->path), kPathWidth) : std::string(kNotAvailable),
               fault.offset_bytes ? std::to_string(*fault.offset_bytes) : std::string(kNotAvailable),
               cell_ns(fault.latency_ns), printable(fault.kind)});
  }
  return table;
}

AttachTable lock_table(const RunRecord& record) {
  if (!record.totals || !record.totals->mmap_lock) return {};
  const MmapLock& lock = *record.totals->mmap_lock;
  AttachTable table{.heading = "waits for mmap_lock",
                    .columns = {"who", "took it", "waited", "p99", "longest", "in all", "held, p99"}};
  for (const auto& [name, side] : {std::pair("readers", &lock.read), std::pair("writers", &lock.write)}) {
    if (!*side || (*side)->contended == 0) continue;
    const LockWaits waits = contended_waits(**side);
    table.add({name, cell_count(waits.acquired), cell_count(waits.contended), cell_ns(waits.p99_ns),
               cell_ns(waits.longest_ns), human_ns(1e9 * waits.seconds),
               (*side)->hold_ns ? cell_ns((*side)->hold_ns->percentile(0.99)) : ""});
  }
  if (table.lines.empty()) return {};
  std::vector<LockHolder> holders = lock.holders.value_or(std::vector<LockHolder>());
  std::ranges::stable_sort(holders, std::greater(), &LockHolder::times);
  std::vector<std::string> named;
  Count more = 0;
  for (std::size_t i = 0; i < holders.size(); ++i)
    if (i < kHolders)
      named.push_back(fmt::format("{} in {} ({})", printable(holders[i].thread),
                                  printable(holders[i].syscall), counted(holders[i].times, "time")));
    else
      more += holders[i].times;
  if (!named.empty())
    table.sentences.push_back(
        fmt::format("waited for: {}{}", fmt::join(named, ", "),
                    more > 0 ? fmt::format(", others ({})", counted(more, "time")) : ""));
  if (record.totals->faults && record.totals->faults->under_mmap_lock &&
      record.totals->faults->under_vma_lock)
    table.sentences.push_back(
        fmt::format("faults on files that ended under mmap_lock: {}, under the VMA lock: {}",
                    *record.totals->faults->under_mmap_lock, *record.totals->faults->under_vma_lock));
  drop_empty_columns(table);
  return table;
}

}
