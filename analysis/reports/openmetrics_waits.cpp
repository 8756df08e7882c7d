#include <map>

#include "analysis/reports/openmetrics_parts.h"

namespace iotrace {

namespace {

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// The calls' own time where it was measured: it keeps what threads did that are gone. Else the threads' sum.
std::optional<double> futex_seconds(const RunRecord& record) {
  if (record.totals->syscalls)
    for (const SyscallCount& call : *record.totals->syscalls)
      if (call.name == "futex" && !call.error && call.lat_ns) return seconds(call.lat_ns->sum());
  std::optional<double> sum;
  for (const AttachedThread& thread : record.threads)
    if (thread.futex_wait_s) sum = sum.value_or(0) + *thread.futex_wait_s;
  return sum;
}

std::optional<double> mmap_lock_seconds(const Totals& totals) {
  if (!totals.mmap_lock || !totals.mmap_lock->read || !totals.mmap_lock->write) return std::nullopt;
  return seconds(totals.mmap_lock->read->wait_ns.sum() + totals.mmap_lock->write->wait_ns.sum());
}

void add_blocked(Exposition& metrics, const RunRecord& record) {
  const TimeSplit time = record.totals->time.value_or(TimeSplit{});
  metrics.counter("iotrace_blocked_seconds_total",
                  "Seconds of the target's threads in waits, by what they wait for. futex: an idle thread's "
                  "wait for work too.");
  metrics.sample(time.fault_wait_s, {{"kind", "fault"}});
  metrics.sample(time.read_wait_s, {{"kind", "read"}});
  metrics.sample(mmap_lock_seconds(*record.totals), {{"kind", "mmap_lock"}});
  metrics.sample(futex_seconds(record), {{"kind", "futex"}});
}

void add_mmap_lock(Exposition& metrics, const MmapLock& lock) {
  const std::pair<const char*, const std::optional<LockSide>&> sides[] = {{"read", lock.read},
                                                                          {"write", lock.write}};
  metrics.histogram("iotrace_mmap_lock_wait_seconds", "Wait for the target's mmap_lock, by side.");
  for (const auto& [name, side] : sides)
    if (side) metrics.samples(side->wait_ns, kDurations, {{"side", name}});
  metrics.counter("iotrace_mmap_lock_contended_total", "Acquisitions of mmap_lock that had to wait.");
  for (const auto& [name, side] : sides)
    if (side) metrics.sample(side->contended, {{"side", name}});
}

// A series may stand in the text once, or the whole of it is refused: so sums by label.
using ByResult = std::map<std::pair<std::string, std::string>, Count>;

void add_by_result(Exposition& metrics, std::string_view label, const ByResult& counts) {
  for (const auto& [key, count] : counts) metrics.sample(count, {{label, key.first}, {"errno", key.second}});
}

void add_madvise(Exposition& metrics, const std::vector<MadviseCount>& entries) {
  ByResult calls;
  std::map<std::string, Count> misaligned, requested;
  for (const MadviseCount& entry : entries) {
    calls[{entry.advice, entry.error.value_or("none")}] += entry.calls;
    misaligned[entry.advice] += entry.misaligned;
    requested[entry.advice] += entry.requested_bytes;
  }
  metrics.counter("iotrace_madvise_calls_total", "Calls of madvise; errno=\"none\": the call succeeded.");
  add_by_result(metrics, "advice", calls);
  metrics.counter("iotrace_madvise_misaligned_calls_total",
                  "Of these, calls whose start is not a multiple of the page size.");
  for (const auto& [advice, count] : misaligned) metrics.sample(count, {{"advice", advice}});
  metrics.counter("iotrace_madvise_requested_bytes_total", "Bytes that these calls named.");
  for (const auto& [advice, bytes] : requested) metrics.sample(bytes, {{"advice", advice}});
}

void add_syscalls(Exposition& metrics, const std::vector<SyscallCount>& entries) {
  ByResult calls;
  std::map<std::string, std::uint64_t> spent_ns;
  for (const SyscallCount& entry : entries) {
    calls[{entry.name, entry.error.value_or("none")}] += entry.calls;
    if (entry.lat_ns) spent_ns[entry.name] += entry.lat_ns->sum();
  }
  metrics.counter("iotrace_syscalls_total", "System calls of the target; errno=\"none\": success.");
  add_by_result(metrics, "call", calls);
  metrics.counter("iotrace_syscall_seconds_total", "Seconds of threads in these calls.");
  for (const auto& [name, ns] : spent_ns) metrics.sample(seconds(ns), {{"call", name}});
}

void add_reclaim(Exposition& metrics, const Reclaim& reclaim) {
  metrics.counter("iotrace_direct_reclaim_stalls_total",
                  "Times that a thread of the target had to free memory itself.");
  metrics.sample(reclaim.direct_stalls);
  metrics.counter("iotrace_direct_reclaim_stall_seconds_total", "Seconds that this took.");
  if (reclaim.stall_ns) metrics.sample(seconds(reclaim.stall_ns->sum()));
  metrics.counter("iotrace_tlb_shootdowns_total",
                  "Flushes of other processors' TLB entries that the target's threads asked for.");
  metrics.sample(reclaim.tlb_shootdowns);
  metrics.counter("iotrace_swapped_in_pages_total", "Pages that the target's faults read from swap.");
  metrics.sample(reclaim.swap_in_pages);
}

}

void add_wait_metrics(Exposition& metrics, const RunRecord& record) {
  if (!record.totals) return;
  const Totals& totals = *record.totals;
  add_blocked(metrics, record);
  if (totals.mmap_lock) add_mmap_lock(metrics, *totals.mmap_lock);
  if (totals.madvise) add_madvise(metrics, *totals.madvise);
  if (totals.syscalls) add_syscalls(metrics, *totals.syscalls);
  if (totals.reclaim) add_reclaim(metrics, *totals.reclaim);
}

}
