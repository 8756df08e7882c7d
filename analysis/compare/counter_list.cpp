// The counters that compare knows: a new one is an entry at the end of its family.

#include <array>

#include "analysis/compare/moved.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

using Value = std::optional<double>;

// Smaller numbers than these are not what an op of tens of microseconds or more waits for.
constexpr double kFewPerOp = 0.05;
constexpr double kShortWait = 1000;  // ns
constexpr double kSmallShare = 0.1;
constexpr double kSmallTime = 500;  // ns per op

Value per_op(const Row& row, const std::optional<Count>& count) {
  const double ops = ops_of(row.traced);
  if (!count || ops <= 0) return std::nullopt;
  return static_cast<double>(*count) / ops;
}

Value share(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

Value share(const std::optional<Count>& part, const std::optional<Count>& whole) {
  if (!part || !whole) return std::nullopt;
  return share(static_cast<double>(*part), static_cast<double>(*whole));
}

Value as_double(const std::optional<std::uint64_t>& number) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

// ---- time of an op: thread-seconds, so that all threads of a row count ----

Value ns_per_op(const Row& row, std::optional<double> TimeSplit::*part) {
  const double ops = ops_of(row.dear_pass ? row.dear_pass : row.traced);
  if (!row.time || !((*row.time).*part) || ops <= 0) return std::nullopt;
  return *((*row.time).*part) * 1e9 / ops;
}

Value system_time(const Row& row) {
  const double ops = ops_of(counted_measurement(row));
  if (!row.rusage || ops <= 0) return std::nullopt;
  return row.rusage->system_s * 1e9 / ops;
}

// ---- bytes ----

Value device_requests(const Row& row) {
  return row.block_io ? per_op(row, row.block_io->reads) : std::nullopt;
}

Value request_bytes(const Row& row) {
  if (!row.block_io) return std::nullopt;
  return share(row.block_io->read_bytes, row.block_io->reads);
}

Value queue_depth(const Row& row) {
  if (!row.block_io || !row.block_io->queue_depth) return std::nullopt;
  return row.block_io->queue_depth->mean();
}

// ---- faults ----

Value waiting_faults(const Row& row) {
  if (!row.faults || !row.faults->waited || !row.faults->read) return std::nullopt;
  return per_op(row, row.faults->waited->count + row.faults->read->count);
}

Value faults(const Row& row) {
  if (!row.faults || !row.faults->mapped || !row.faults->waited || !row.faults->read) return std::nullopt;
  return per_op(row, faults_on_file(*row.faults));
}

Value fault_p99(const Row& row) {
  if (!row.faults || !row.faults->waited || !row.faults->read) return std::nullopt;
  Histogram both = row.faults->waited->lat_ns;
  if (!both.merge(row.faults->read->lat_ns)) return std::nullopt;
  return as_double(both.percentile(0.99));
}

// ---- mmap_lock ----

Value under_mmap_lock(const Row& row) {
  if (!row.faults || !row.faults->under_mmap_lock || !row.faults->under_vma_lock) return std::nullopt;
  auto under = static_cast<double>(*row.faults->under_mmap_lock);
  return share(under, under + static_cast<double>(*row.faults->under_vma_lock));
}

Value contended(const Row& row, std::optional<LockSide> MmapLock::*side) {
  if (!row.mmap_lock || !((*row.mmap_lock).*side)) return std::nullopt;
  return per_op(row, ((*row.mmap_lock).*side)->contended);
}

Value wait_p99(const Row& row, std::optional<LockSide> MmapLock::*side) {
  if (!row.mmap_lock || !((*row.mmap_lock).*side)) return std::nullopt;
  return as_double(((*row.mmap_lock).*side)->wait_ns.percentile(0.99));
}

// ---- pages ----

Value pages(const Row& row, std::optional<Count> PageCache::*count) {
  return row.page_cache ? per_op(row, (*row.page_cache).*count) : std::nullopt;
}

Value wasted(const Row& row) {
  if (!row.page_cache) return std::nullopt;
  return share(row.page_cache->wasted_pages, row.page_cache->added_pages);
}

// ---- hints ----

Value rejected(const Row& row) {
  auto calls = willneed_calls(row);
  if (!calls) return std::nullopt;
  return share(static_cast<double>(calls->issued - calls->accepted), static_cast<double>(calls->issued));
}

Value hinted(const Row& row, std::optional<Count> Hints::*count) {
  return row.hints ? per_op(row, (*row.hints).*count) : std::nullopt;
}

// ---- memory ----

Value reclaim(const Row& row, std::optional<Count> Reclaim::*count) {
  return row.reclaim ? per_op(row, (*row.reclaim).*count) : std::nullopt;
}

Value reclaim_time(const Row& row) {
  const double ops = ops_of(row.traced);
  if (!row.reclaim || !row.reclaim->stall_ns || ops <= 0) return std::nullopt;
  return static_cast<double>(row.reclaim->stall_ns->sum()) / ops;
}

Value context_switches(const Row& row) {
  const double ops = ops_of(counted_measurement(row));
  if (!row.rusage || ops <= 0) return std::nullopt;
  return static_cast<double>(row.rusage->ctx_voluntary) / ops;
}

}

std::span<const RowCounter> row_counters() {
  using enum CounterUnit;
  static constexpr std::array kCounters{
      RowCounter{"time.running_ns_per_op", "running", "time", kNsPerOp, 1, kSmallTime,
                 [](const Row& r) { return ns_per_op(r, &TimeSplit::running_s); }},
      RowCounter{"time.fault_wait_ns_per_op", "waits in faults", "time", kNsPerOp, 1, kSmallTime,
                 [](const Row& r) { return ns_per_op(r, &TimeSplit::fault_wait_s); }},
      RowCounter{"time.read_wait_ns_per_op", "waits in reading calls", "time", kNsPerOp, 1, kSmallTime,
                 [](const Row& r) { return ns_per_op(r, &TimeSplit::read_wait_s); }},
      RowCounter{"time.lock_wait_ns_per_op", "waits for mmap_lock", "time", kNsPerOp, 1, kSmallTime,
                 [](const Row& r) { return ns_per_op(r, &TimeSplit::lock_wait_s); }},
      RowCounter{"rusage.system_ns_per_op", "system time", "cpu", kNsPerOp, 1, 2000, system_time},
      RowCounter{"rusage.ctx_voluntary_per_op", "voluntary context switches", "cpu", kPerOp, 1, 0.5,
                 context_switches},

      RowCounter{"amplification_ratio", "device bytes per byte asked for", "bytes", kRatio, 1, 0.05,
                 [](const Row& r) { return r.amplification_ratio; }},
      RowCounter{"block_io.reads_per_op", "requests to the device", "device", kPerOp, 1, kFewPerOp,
                 device_requests},
      RowCounter{"block_io.request_bytes", "bytes per request", "device", kBytes, 0, 1024, request_bytes},
      RowCounter{"block_io.queue_depth", "requests in flight", "device", kNumber, -1, 0.5, queue_depth},

      RowCounter{"faults.per_op", "faults on the file", "faults", kPerOp, 1, kFewPerOp, faults},
      RowCounter{"faults.waiting_per_op", "faults that wait for the device", "faults", kPerOp, 1, kFewPerOp,
                 waiting_faults},
      RowCounter{"faults.waiting_p99_ns", "p99 of faults that wait", "faults", kNanoseconds, 1, kShortWait,
                 fault_p99},

      RowCounter{"faults.under_mmap_lock_share", "faults under mmap_lock", "lock", kShare, 1, kSmallShare,
                 under_mmap_lock},
      RowCounter{"mmap_lock.read.contended_per_op", "waits of readers for mmap_lock", "lock", kPerOp, 1,
                 kFewPerOp, [](const Row& r) { return contended(r, &MmapLock::read); }},
      RowCounter{"mmap_lock.read.wait_p99_ns", "mmap_lock read wait p99", "lock", kNanoseconds, 1, kShortWait,
                 [](const Row& r) { return wait_p99(r, &MmapLock::read); }},
      RowCounter{"mmap_lock.write.contended_per_op", "waits of writers for mmap_lock", "lock", kPerOp, 1,
                 kFewPerOp, [](const Row& r) { return contended(r, &MmapLock::write); }},
      RowCounter{"mmap_lock.write.wait_p99_ns", "mmap_lock write wait p99", "lock", kNanoseconds, 1,
                 kShortWait, [](const Row& r) { return wait_p99(r, &MmapLock::write); }},

      RowCounter{"page_cache.added_pages_per_op", "pages brought in", "pages", kPerOp, 1, kFewPerOp,
                 [](const Row& r) { return pages(r, &PageCache::added_pages); }},
      RowCounter{"page_cache.wasted_share", "pages brought in and not used", "pages", kShare, 1, kSmallShare,
                 wasted},
      RowCounter{"page_cache.refault_pages_per_op", "pages read again after they had left", "pages", kPerOp,
                 1, kFewPerOp, [](const Row& r) { return pages(r, &PageCache::refault_pages); }},

      RowCounter{"hints.rejected_share", "hints refused", "hints", kShare, 1, kSmallShare, rejected},
      RowCounter{"hints.in_time_pages_per_op", "pages hinted in time", "hints", kPerOp, -1, kFewPerOp,
                 [](const Row& r) { return hinted(r, &Hints::in_time_pages); }},
      RowCounter{"hints.late_pages_per_op", "pages hinted late", "hints", kPerOp, 0, kFewPerOp,
                 [](const Row& r) { return hinted(r, &Hints::late_pages); }},
      RowCounter{"hints.needless_pages_per_op", "pages hinted needlessly", "hints", kPerOp, 1, kFewPerOp,
                 [](const Row& r) { return hinted(r, &Hints::needless_pages); }},
      RowCounter{"hints.useless_pages_per_op", "pages hinted and never touched", "hints", kPerOp, 1,
                 kFewPerOp, [](const Row& r) { return hinted(r, &Hints::useless_pages); }},
      RowCounter{"hints.suppressed_absent_pages_per_op", "absent pages whose hint was held back", "hints",
                 kPerOp, 1, kFewPerOp,
                 [](const Row& r) { return hinted(r, &Hints::suppressed_absent_pages); }},

      RowCounter{"reclaim.direct_stalls_per_op", "stalls in direct reclaim", "memory", kPerOp, 1, 0.005,
                 [](const Row& r) { return reclaim(r, &Reclaim::direct_stalls); }},
      RowCounter{"reclaim.stall_ns_per_op", "direct reclaim", "memory", kNsPerOp, 1, kSmallTime,
                 reclaim_time},
      RowCounter{"reclaim.tlb_shootdowns_per_op", "TLB shootdowns", "memory", kPerOp, 1, kFewPerOp,
                 [](const Row& r) { return reclaim(r, &Reclaim::tlb_shootdowns); }},
      RowCounter{"reclaim.swap_in_pages_per_op", "pages swapped in", "memory", kPerOp, 1, 0.005,
                 [](const Row& r) { return reclaim(r, &Reclaim::swap_in_pages); }},
  };
  return kCounters;
}

}
