#include "userspace/probes/canary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/probes/known_work.h"
#include "userspace/probes/load_probe_set.h"
#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

// One number that a probe gives, and what it must be.
struct Expectation {
  std::string_view probe;
  std::string_view what;  // "faults that read a page": stands behind the number
  // More is right, too: other processes, or the kernel for reasons of its own, may do the same.
  bool at_least = false;
  Count (*expected)(const KnownWork& done);
  // nullopt: the probe can't tell here, for a reason that it gives itself.
  std::optional<Count> (*seen)(const ProbeReadings& readings);
  // Another probe whose hooks the number stands on, too. Where that one fails by itself, it is to blame.
  std::string_view also = "";
  // Not every file or machine lets it be shown: a number of 0 leaves nothing unproven.
  bool where_possible = false;
  // The one hook behind the number; without: all hooks of the probe.
  std::optional<HookId> hook = std::nullopt;
};

std::optional<Count> calls(const ProbeReadings& readings, std::string_view name,
                           std::optional<std::string_view> error = std::nullopt) {
  if (!readings.syscalls) return std::nullopt;
  for (const SyscallCount& entry : *readings.syscalls)
    if (entry.name == name && entry.error == error) return entry.calls;
  return 0;
}

std::optional<Count> uring_calls(const ProbeReadings& readings) {
  if (readings.unavailable.contains("syscalls.io_uring")) return std::nullopt;
  return calls(readings, "io_uring madvise", "EINVAL");
}

template<typename Number> std::optional<Count> refused_advice(const ProbeReadings& readings, Number number) {
  if (!readings.madvise) return std::nullopt;
  Count sum = 0;
  for (const MadviseCount& entry : *readings.madvise)
    if (entry.advice == "SEQUENTIAL" && entry.error == "EINVAL") sum += entry.*number;
  return sum;
}

std::optional<Count> count_of(const std::optional<FaultClass>& faults) {
  return faults ? std::optional(faults->count) : std::nullopt;
}

// All whose start was seen.
std::optional<Count> classified(const ProbeReadings& readings) {
  if (!readings.faults) return std::nullopt;
  const Faults& faults = *readings.faults;
  if (!faults.read || !faults.mapped || !faults.waited || !faults.other) return std::nullopt;
  return faults.read->count + faults.mapped->count + faults.waited->count + faults.other->count;
}

// ---- the table --------------------------------------------------------------------------------------------

using Done = const KnownWork&;
using Seen = const ProbeReadings&;
using Number = std::optional<Count>;

const Expectation kExpectations[] = {
    {"syscalls", "pread64", false, [](Done done) { return done.reads; },
     [](Seen seen) { return calls(seen, "pread64"); }},
    {"syscalls", "pread64 that give EBADF", false, [](Done done) { return done.reads_refused; },
     [](Seen seen) { return calls(seen, "pread64", "EBADF"); }},
    {"syscalls", "munmap", false, [](Done done) { return done.mapped_unmapped; },
     [](Seen seen) { return calls(seen, "munmap"); }},
    {"syscalls", "madvise(SEQUENTIAL) that give EINVAL", false, [](Done done) { return done.misaligned; },
     [](Seen seen) { return refused_advice(seen, &MadviseCount::calls); }},
    {"syscalls", "of them misaligned", false, [](Done done) { return done.misaligned; },
     [](Seen seen) { return refused_advice(seen, &MadviseCount::misaligned); }},
    {"syscalls", "bytes in them", false, [](Done done) { return done.misaligned; },
     [](Seen seen) { return refused_advice(seen, &MadviseCount::requested_bytes); }},

    {"syscalls", "madvise by io_uring that give EINVAL", false, [](Done done) { return done.uring_refused; },
     [](Seen seen) { return uring_calls(seen); }, "", true, HookId::kUring},

    {"faults", "faults that read a page", false, [](Done done) { return done.faults_absent; },
     [](Seen seen) { return seen.faults ? count_of(seen.faults->read) : Number(); }, "page_cache"},
    {"faults", "faults that found theirs in the cache", false, [](Done done) { return done.faults_present; },
     [](Seen seen) { return seen.faults ? count_of(seen.faults->mapped) : Number(); }, "page_cache"},
    {"faults", "minor faults, as getrusage(2) has them", false, [](Done done) { return done.minor_faults; },
     [](Seen seen) { return seen.faults ? seen.faults->minor : Number(); }},
    {"faults", "major faults, as getrusage(2) has them", false, [](Done done) { return done.major_faults; },
     [](Seen seen) { return seen.faults ? seen.faults->major : Number(); }},
    {"faults", "faults with start and end", false,
     [](Done done) { return done.minor_faults + done.major_faults; }, classified},

    {"page_cache", "pages brought in by faults", false, [](Done done) { return done.faults_absent; },
     [](Seen seen) { return seen.page_cache ? seen.page_cache->by.fault : Number(); }, "faults"},
    {"page_cache", "by reads", false, [](Done done) { return done.reads_absent; },
     [](Seen seen) { return seen.page_cache ? seen.page_cache->by.read : Number(); }},
    {"page_cache", "evicted", true, [](Done done) { return done.evicted; },
     [](Seen seen) { return seen.page_cache ? seen.page_cache->evicted_pages : Number(); }},
    {"page_cache", "used", false, [](Done done) { return done.marked; },
     [](Seen seen) { return seen.page_cache ? seen.page_cache->used_pages : Number(); }},
    {"page_cache", "wasted", true, [](Done done) { return done.unmarked; },
     [](Seen seen) { return seen.page_cache ? seen.page_cache->wasted_pages : Number(); }},

    // Of pages that the device writes elsewhere first (dm-crypt, parity RAID), the requests are not the
    // file's.
    {"block_io", "bytes read from the device for the file", true, [](Done done) { return done.device_bytes; },
     [](Seen seen) { return seen.block_io ? seen.block_io->read_bytes : Number(); }},

    {"readahead", "windows read ahead", true, [](Done done) { return done.windows; },
     [](Seen seen) { return seen.readahead ? seen.readahead->sync : Number(); }, "", true},

    {"mmap_lock", "acquisitions by writers", false, [](Done done) { return 2 * done.mapped_unmapped; },
     [](Seen seen) { return seen.mmap_lock ? std::optional(seen.mmap_lock->write->acquired) : Number(); }},
    // Each mincore(2) is one on any kernel; faults and other advice are on some.
    {"mmap_lock", "by readers", true, [](Done done) { return done.residency_asked; },
     [](Seen seen) { return seen.mmap_lock ? std::optional(seen.mmap_lock->read->acquired) : Number(); }},
};

// ---- judging ----------------------------------------------------------------------------------------------

struct Wrong {
  std::string text;  // "expected 7 faults that read a page, saw 0"
  std::optional<HookId> hook;
};

struct Verdict {
  bool proven = false;  // it gave a number above 0 that it had to
  std::vector<Wrong> wrong;

  bool passed() const { return proven && wrong.empty(); }
};

using Verdicts = std::map<std::string_view, Verdict>;

void judge(const Expectation& expectation, const KnownWork& done, const ProbeReadings& readings,
           Verdicts& verdicts) {
  const Number seen = expectation.seen(readings);
  if (!seen) return;
  const Count expected = expectation.expected(done);
  Verdict& verdict = verdicts[expectation.probe];
  if (*seen == expected || (expectation.at_least && *seen > expected))
    verdict.proven = verdict.proven || expected > 0 || expectation.where_possible;
  else
    verdict.wrong.push_back({fmt::format("expected {}{} {}, saw {}", expectation.at_least ? "at least " : "",
                                         expected, expectation.what, *seen),
                             expectation.hook});
}

Verdicts judge(const KnownWork& done, const ProbeReadings& readings) {
  Verdicts by_itself;
  for (const Expectation& expectation : kExpectations)
    if (expectation.also.empty()) judge(expectation, done, readings, by_itself);
  Verdicts all = by_itself;
  for (const Expectation& expectation : kExpectations)
    if (!expectation.also.empty() && by_itself[expectation.also].wrong.empty())
      judge(expectation, done, readings, all);
  return all;
}

// What spoils one attempt (another process reads or evicts the same pages, the kernel reclaims them) does not
// spoil all; a wrong count is wrong in each.
constexpr int kAttempts = 3;

// A probe passes if one attempt proves it.
Result<Verdicts> try_canaries(ProbeSet& probes, int file_fd) {
  auto worker = KnownWorker::start(file_fd, probes);
  if (!worker) return worker.error();
  Verdicts verdicts;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (Status attached = probes.attach(worker->target()); !attached) return attached.error();
    auto done = worker->run();
    auto readings = probes.read();
    probes.detach();
    if (!done) return done.error();
    if (!readings) return readings.error();
    for (auto& [probe, verdict] : judge(*done, *readings)) {
      auto [known, is_new] = verdicts.try_emplace(probe, verdict);
      if (!is_new && !known->second.passed()) known->second = std::move(verdict);
    }
    if (std::ranges::all_of(verdicts, [](const auto& of_probe) { return of_probe.second.passed(); })) break;
  }
  return verdicts;
}

bool expected_of(std::string_view probe) {
  return std::ranges::any_of(kExpectations, [&](const Expectation& one) { return one.probe == probe; });
}

// What speaks against one hook.
std::string complaint(const std::vector<Wrong>& wrong, HookId id) {
  std::string text;
  for (const Wrong& number : wrong)
    if (!number.hook || *number.hook == id) text += (text.empty() ? "canary: " : "; ") + number.text;
  return text;
}

// True: some probe was given up.
bool give_up_failed(const Verdicts& verdicts, HookStates& states) {
  bool any = false;
  for (const Probe& probe : probes()) {
    auto verdict = verdicts.find(probe.info.name);
    if (verdict == verdicts.end() || verdict->second.wrong.empty()) continue;
    for (HookId id : probe.hooks)
      if (auto text = complaint(verdict->second.wrong, id); !text.empty()) states[id].give_up(text);
    any = true;
  }
  return any;
}

}

Result<ProvenProbes> load_proven(const std::vector<std::string>& names, int file_fd, HookStates states,
                                 const Logs& logs) {
  auto loaded = load_probe_set(names, file_fd, states, logs);
  if (!loaded) return loaded.error();
  ProvenProbes proven{.probes = std::move(*loaded)};

  auto verdicts = try_canaries(*proven.probes, file_fd);
  if (verdicts && give_up_failed(*verdicts, states)) {
    proven.probes.reset();
    auto again = load_probe_set(names, file_fd, states, logs);
    if (!again) return again.error();
    proven.probes = std::move(*again);
  }
  for (const ProbeStatus& probe : proven.probes->status()) {
    const Verdict* verdict = verdicts && verdicts->contains(probe.name) ? &verdicts->at(probe.name) : nullptr;
    if (!probe.variant) {
      proven.failures.push_back(fmt::format("{}: {}", probe.name, probe.reason.value_or("unavailable")));
    } else if (!verdicts) {
      proven.unproven.push_back(fmt::format("{}: {}", probe.name, verdicts.error().message));
    } else if (verdict && !verdict->wrong.empty()) {
      // One hook of several was given up.
      proven.failures.push_back(fmt::format("{}: canary: {}", probe.name, verdict->wrong.front().text));
    } else if (expected_of(probe.name) && !(verdict && verdict->proven)) {
      proven.unproven.push_back(fmt::format(
          "{}: the first pages of the file can't be evicted, another process may have them mapped",
          probe.name));
    }
  }
  proven.failures.insert(proven.failures.end(), proven.unproven.begin(), proven.unproven.end());
  return proven;
}

}
