#pragma once
// A record of attach, built by hand: a Lucene index in a 256 MiB cgroup, four search threads, a merge that
// maps and unmaps; 10 s. Each fault that reads takes 1 ms, each that waits 0.5 ms.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/golden/example_record.h"

namespace iotrace::test {

inline Histogram file_latencies(Count count, std::uint64_t ns) {
  Histogram histogram(kFileSubBits);
  if (count > 0) histogram.add(ns, count);
  return histogram;
}

// Of the faults, `read` brought their page in, `waited` found its I/O under way.
inline Faults file_faults(Count mapped, Count waited, Count read) {
  return {.mapped = FaultClass{mapped, file_latencies(mapped, 2'000)},
          .waited = FaultClass{waited, file_latencies(waited, 500'000)},
          .read = FaultClass{read, file_latencies(read, 1'000'000)}};
}

// A file that is mapped whole, and on which nothing happened.
inline AttachedFile quiet_file(const std::string& path, std::uint64_t size_bytes) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto dot = name.rfind('.');
  return {.path = path,
          .extension = dot == std::string::npos ? "" : name.substr(dot),
          .device = "254:1",
          .inode = 12,
          .size_bytes = size_bytes,
          .mapped_bytes = size_bytes,
          .resident_bytes = size_bytes,
          .advice = {{"NORMAL", size_bytes}},
          .faults = file_faults(0, 0, 0),
          .page_cache = PageCache{.added_pages = 0,
                                  .by = {.fault = 0, .readahead = 0, .hint = 0, .read = 0, .other = 0},
                                  .used_pages = 0,
                                  .wasted_pages = 0,
                                  .evicted_pages = 0,
                                  .refault_pages = 0},
          .wasted_least_pages = 0,
          .wasted_most_pages = 0,
          .hints =
              Hints{.issued = 0, .rejected = 0, .late_pages = 0, .needless_pages = 0, .truncated_pages = 0},
          .hint_errors = std::map<std::string, Count>(),
          .block_io = BlockIo{.reads = 0,
                              .read_bytes = 0,
                              .lat_ns = file_latencies(0, 0),
                              .request_bytes = file_latencies(0, 0),
                              .queue_depth = file_latencies(0, 0)},
          .reads = FileReads{},
          .order = AccessOrder{}};
}

// Read at random under MADV_NORMAL: 4000 faults read their page and 60 pages along, of which 4000 to 16000
// were used; half of all pages had been there before.
inline AttachedFile
random_file(const std::string& path = "/var/lib/search/nodes/0/indices/books/0/index/_0.fdt") {
  AttachedFile file = quiet_file(path, 700ull << 20);
  file.resident_bytes = 175ull << 20;
  file.faults = file_faults(9'000, 1'000, 4'000);
  PageCache& pages = *file.page_cache;
  pages.added_pages = 244'000;
  pages.by.fault = 4'000;
  pages.by.readahead = 240'000;
  pages.wasted_pages = 236'000;
  pages.evicted_pages = 230'000;
  pages.refault_pages = 122'000;
  file.wasted_least_pages = 224'000;
  file.wasted_most_pages = 236'000;
  file.block_io->reads = 4'000;
  file.block_io->read_bytes = 244'000ull * 4096;
  file.block_io->lat_ns = file_latencies(4'000, 900'000);
  file.block_io->request_bytes = file_latencies(4'000, 249'856);
  file.order = AccessOrder{500, 4'500};
  return file;
}

// Scanned under MADV_RANDOM: 5000 faults of a page each, 50 of them elsewhere than behind the last.
inline AttachedFile scanned_file(const std::string& path = "/data/merge/_9.dvd") {
  AttachedFile file = quiet_file(path, 200ull << 20);
  file.resident_bytes = 50ull << 20;
  file.advice = {{"RANDOM", 200ull << 20}};
  file.faults = file_faults(0, 0, 5'000);
  file.page_cache->added_pages = file.page_cache->by.fault = file.page_cache->used_pages = 5'000;
  file.block_io->reads = 5'000;
  file.block_io->read_bytes = 5'000 * 4096;
  file.block_io->lat_ns = file_latencies(5'000, 900'000);
  file.block_io->request_bytes = file_latencies(5'000, 4096);
  file.order = AccessOrder{4'950, 50};
  return file;
}

inline RunRecord watched(std::vector<AttachedFile> files) {
  RunRecord record = example_record();
  record.command = "attach";
  record.seed = 0;
  record.file = {};
  record.options = {};
  record.target = AttachTarget{.asked = "-p 4711",
                               .processes = {{4711, "java", {}}},
                               .seconds = 10,
                               .observer_cpu_ratio = 0.009,
                               .observer_timed_s = 1};
  record.totals = Totals{.syscalls = std::vector<SyscallCount>(),
                         .madvise = std::vector<MadviseCount>(),
                         .hints = Hints{.issued = 0, .rejected = 0},
                         .faults = file_faults(23, 0, 0),
                         .page_cache = PageCache{.added_pages = 0},
                         .probes = {{.name = "faults", .variant = "tp_btf"},
                                    {.name = "mmap_lock", .variant = "tp_btf"},
                                    {.name = "page_cache", .variant = "tp_btf"},
                                    {.name = "syscalls", .variant = "raw_tp"}}};
  record.files = std::move(files);
  return record;
}

inline AttachedThread thread_of(std::uint32_t tid, const std::string& name, Count faults, double fault_wait_s,
                                double lock_wait_s, double futex_wait_s = 0) {
  return {4711, tid, name, 10, faults, fault_wait_s, 0.0, lock_wait_s, futex_wait_s};
}

inline RunRecord lucene_record() {
  AttachedFile fdt = random_file();
  fdt.faults->longest = {{12'500'000, 104'857'600, 4722, "search-1", "read"},
                         {9'100'000, 8'192, 4721, "search-0", "waited"}};
  AttachedFile fdx = quiet_file("/var/lib/search/nodes/0/indices/books/0/index/_0.fdx", 2 << 20);
  fdx.faults = file_faults(400, 0, 20);
  fdx.page_cache->added_pages = fdx.page_cache->by.fault = 20;
  AttachedFile other_fdt = quiet_file("/var/lib/search/nodes/0/indices/books/0/index/_1.fdt", 1 << 20);
  other_fdt.deleted = true;
  other_fdt.faults = file_faults(0, 0, 10);
  other_fdt.page_cache->added_pages = other_fdt.page_cache->by.fault = 10;
  AttachedFile dvd = quiet_file("/var/lib/search/nodes/0/indices/books/0/index/_0.dvd", 64 << 20);
  dvd.resident_bytes = 16 << 20;
  dvd.mapped_bytes = 32 << 20;
  dvd.advice = {{"RANDOM", 24 << 20}, {"NORMAL", 8 << 20}};
  dvd.reads = FileReads{700, 700 * 16384, file_latencies(700, 300'000)};
  dvd.page_cache->added_pages = dvd.page_cache->by.read = 2'800;
  dvd.hints->issued = 5'181;
  dvd.hints->rejected = 5'117;
  dvd.hint_errors = {{"EINVAL", 5'117}};
  dvd.hints->needless_pages = 41;
  dvd.hints->truncated_pages = 1'792;

  RunRecord record = watched({fdt, dvd, fdx, other_fdt, quiet_file("/usr/lib/jvm/libjvm.so", 20 << 20)});
  record.target->notes = {"probe block_io switched off after 4 s: it cost more than --max-overhead"};
  for (std::uint32_t i = 0; i < 4; ++i)
    record.threads.push_back(thread_of(4721 + i, "search-" + std::to_string(i), 1'260, 1.13, 1.5, 0.5));
  record.threads.push_back(thread_of(4730, "merge", 0, 0, 0.01));
  record.threads.push_back(thread_of(4731, "Finalizer", 0, 0, 0, 10));
  Totals& totals = *record.totals;
  totals.faults = file_faults(9'400, 1'000, 4'030);
  totals.faults->longest = {{12'500'000, 104'857'600, 4722, "search-1", "read"}};
  totals.faults->under_mmap_lock = 5'030;
  totals.faults->under_vma_lock = 9'400;
  totals.faults->blocked_threads_max = 4;
  totals.faults->blocked_threads_avg = 0.451;
  totals.madvise = {{"RANDOM", {}, 3, 0, 25'165'824},
                    {"WILLNEED", "EINVAL", 5'117, 5'117, 5'117 * 16384},
                    {"WILLNEED", {}, 64, 0, 64 * 16384}};
  totals.hints = Hints{.issued = 5'181, .rejected = 5'117};
  totals.syscalls = {{"madvise", {}, 67, latencies(5'184, 4'000)},
                     {"madvise", "EINVAL", 5'117, {}},
                     {"pread64", {}, 700, latencies(700, 300'000)}};
  // 0.25 s of waiting, 2^22 ns each.
  totals.mmap_lock = MmapLock{.read = lock_side(14'500, 1'430, 4'194'304),
                              .write = lock_side(800, 2, 4'194'304),
                              .holders = {{{"merge", "munmap", 1'400}, {"search-1", "page fault", 32}}}};
  totals.reclaim = Reclaim{
      .direct_stalls = 120, .cgroup_stalls = 118, .stall_ns = latencies(120, 800'000), .swap_in_pages = 0};
  totals.unavailable = {{"readahead", "needs tracepoints that Linux 6.18 brought"}};
  record.files[0].unavailable = {{"hints.in_time_pages", "not counted by file"}};
  record.files[1].unavailable = {{"hints.in_time_pages", "not counted by file"}};
  return record;
}

inline RunRecord idle_record() {
  RunRecord record = watched({quiet_file("/usr/bin/sleep", 1 << 20)});
  record.target->processes = {{99, "sleep", {}}};
  record.target->asked = "-p 99";
  record.target->observer_cpu_ratio = 0;
  record.threads = {{99, 99, "sleep", 10, 0, 0.0, 0.0, 0.0, 0.0}};
  return record;
}

}
