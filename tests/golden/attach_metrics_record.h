#pragma once
// A watch of ten seconds, small enough to check by hand: an index of which one file waits, one whose path
// needs escapes, and twenty small ones, of which two have no series of their own.

#include <fmt/format.h>

#include "analysis/run_record.h"

namespace iotrace::test {

inline FaultClass watched_faults(Count count, std::uint64_t latency_ns) {
  FaultClass faults{.count = count};
  faults.lat_ns.add(latency_ns, count);
  return faults;
}

// Every file has what the first has; of it `times` as much.
inline AttachedFile watched_file(std::string path, std::string extension, Count times) {
  AttachedFile file{.path = std::move(path),
                    .extension = std::move(extension),
                    .device = "254:0",
                    .inode = 4711 + times,
                    .size_bytes = 1 << 20,
                    .mapped_bytes = 1 << 20,
                    .resident_bytes = 262'144,
                    .advice = {{"NORMAL", 1 << 20}}};
  // 7 mapped for 2 us, 5 waited for 100 us, 3 read for 1 ms.
  file.faults = Faults{.mapped = watched_faults(7 * times, 2'000),
                       .waited = watched_faults(5 * times, 100'000),
                       .read = watched_faults(3 * times, 1'000'000)};
  file.page_cache =
      PageCache{.added_pages = 64 * times,
                .by = {.fault = 3 * times, .readahead = 59 * times, .hint = 2 * times, .read = 0, .other = 0},
                .evicted_pages = 11 * times,
                .refault_pages = 2 * times};
  file.wasted_least_pages = 40 * times;
  file.wasted_most_pages = 50 * times;
  file.hints = Hints{.issued = 5 * times, .rejected = 4 * times};
  file.block_io = BlockIo{.reads = 4 * times, .read_bytes = 64 * 4096 * times};
  file.reads = FileReads{.calls = 13 * times, .bytes = 13 * 4096 * times};
  file.reads->lat_ns.add(50'000, 13 * times);
  file.order = AccessOrder{.in_order = 2 * times, .out_of_order = 17 * times};
  return file;
}

inline Histogram watched_latencies(Count count, std::uint64_t value) {
  Histogram histogram(kKernelSubBits);
  histogram.add(value, count);
  return histogram;
}

// The counts of `times` equal stretches of the watch.
inline RunRecord attach_metrics_record(Count times = 1) {
  RunRecord record;
  record.iotrace = "0.1.0";
  record.started = "2026-11-30T15:00:00Z";
  record.command = "attach";
  record.host.kernel = "6.18.44";
  record.target = AttachTarget{
      .asked = "--comm java",
      .processes = {{.pid = 4711, .name = "java"}, {.pid = 4712, .name = "java", .ended = "exited"}},
      .seconds = 10.0 * static_cast<double>(times),
      .observer_cpu_ratio = 0.0125,
      .observer_timed_s = 1};
  record.files.push_back(watched_file("/index/_0.fdt", ".fdt", 100 * times));
  record.files.push_back(watched_file("/index/a\"b\\c\nd\xff.vec", ".vec", 10 * times));
  for (int i = 1; i <= 20; ++i)
    record.files.push_back(watched_file(fmt::format("/index/_{}.doc", i), ".doc", times));
  // A number that could not be had.
  record.files[1].resident_bytes = std::nullopt;
  record.files[1].unavailable["resident_bytes"] = "EPERM";

  // The files have 130 shares together; the totals have one more, of files past the table.
  Totals& totals = record.totals.emplace();
  const Count shares = 131 * times;
  totals.time = TimeSplit{.fault_wait_s = 0.5 * static_cast<double>(times),
                          .read_wait_s = 0.25 * static_cast<double>(times)};
  totals.faults = Faults{.mapped = watched_faults(7 * shares, 2'000),
                         .waited = watched_faults(5 * shares, 100'000),
                         .read = watched_faults(3 * shares, 1'000'000),
                         .other = watched_faults(23 * times, 1'000),
                         .minor = 12 * shares,
                         .major = 3 * shares,
                         .blocked_threads_max = 4};
  totals.block_io = BlockIo{.reads = 4 * shares,
                            .read_bytes = 64 * 4096 * shares,
                            .lat_ns = watched_latencies(4 * shares, 90'000),
                            .request_bytes = watched_latencies(4 * shares, 65'536),
                            .unplaced = 0};
  totals.madvise = {{.advice = "WILLNEED", .calls = shares, .requested_bytes = 16'384 * shares},
                    {.advice = "WILLNEED",
                     .error = "EINVAL",
                     .calls = 4 * shares,
                     .misaligned = 4 * shares,
                     .requested_bytes = 4 * 16'384 * shares}};
  totals.syscalls = {
      {.name = "pread64", .calls = 13 * shares, .lat_ns = watched_latencies(13 * shares, 50'000)},
      {.name = "futex", .calls = 17 * times, .lat_ns = watched_latencies(17 * times, 1 << 20)}};
  LockSide side{.acquired = 19 * times, .contended = 2 * times};
  side.wait_ns.add(300, 17 * times);
  side.wait_ns.add(2 << 20, 2 * times);
  totals.mmap_lock = MmapLock{.read = side, .write = LockSide{}};
  totals.reclaim = Reclaim{.direct_stalls = 3 * times,
                           .cgroup_stalls = 2 * times,
                           .stall_ns = watched_latencies(3 * times, 4'000'000),
                           .tlb_shootdowns = 29 * times,
                           .swap_in_pages = 0};
  totals.probes = {{.name = "faults", .variant = "tp_btf", .lost = 2 * times},
                   {.name = "page_cache", .reason = "EPERM"}};
  record.findings = {{.id = "hint-rejected", .severity = "fail", .rows = {0}},
                     {.id = "hint-rejected", .severity = "fail", .rows = {1}}};
  return record;
}

}
