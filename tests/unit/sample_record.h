#pragma once
// Records for the tests of the JSON: one in which every member has a value, one in which none has.

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>

#include "analysis/run_record.h"

namespace iotrace::test {

inline std::string text_of(const std::string& path_from_root) {
  std::ifstream file(std::string(IOTRACE_SOURCE_DIR "/") + path_from_root);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string golden_record_text(const std::string& name) {
  return text_of("tests/golden/records/" + name);
}

// What a record must have and nothing else.
inline RunRecord bare_record() {
  RunRecord record;
  record.started = "2026-11-30T15:00:00Z";
  record.rows.resize(1);
  return record;
}

inline Histogram histogram_of(unsigned sub_bits, std::initializer_list<std::uint64_t> values) {
  Histogram histogram{sub_bits};
  for (std::uint64_t value : values) histogram.add(value);
  return histogram;
}

inline Row full_row() {
  Histogram kernel = histogram_of(kKernelSubBits, {1, 7, 900, 70'000, 70'001});
  auto faults = [&](Count count) { return FaultClass{count, kernel}; };
  LockSide lock{9, 5, kernel, kernel, 6};

  Row row;
  row.strategy = "mmap-random-willneed-misaligned";
  row.case_name = "cold";
  row.pattern = "random";
  row.threads = 4;
  row.read_size_bytes = 16384;
  row.reads_per_op = 16;
  row.control = true;
  row.error = "worker killed by signal 9";
  row.expects = {true, "mmap-random"};
  row.cell = {.pace = "open",
              .rate = 1000.0,
              .rate_pct = 80.0,
              .arrivals = "poisson",
              .compute_ns = 5000,
              .align_bytes = 512,
              .hot_size_bytes = 1 << 24,
              .cold_pct = 10.0,
              .zipf_theta = 0.99,
              .stride_bytes = 65536,
              .write_pct = 50.0,
              .mmap_churn = 2000.0,
              .memory_of_file_ratio = 0.5,
              .memory_limit_bytes = 1ull << 28};
  row.ceiling_ratio = 0.8;
  row.fio = {"psync", 1e5, 1.25};
  row.untraced = {{{4, 0.3, 0.0, 0.25, false}, {5, 0.31, 0.0, 0.5, true}},
                  {12.5, 12.0, 13.0, 6},
                  3.2e9,
                  histogram_of(kOpSubBits, {1000, 2000, 2001, 123'456'789})};
  row.traced = row.untraced;
  row.service_ns = row.untraced->lat_ns;
  row.response_ns = row.untraced->lat_ns;
  row.dear_pass = row.untraced;
  row.observer_cost_ratio = {0.99, 0.98, 1.01, 6};
  row.dear_cost_ratio = {0.9, 0.8, 1.0, 6};
  row.noise_floor_ratio = 0.01;
  row.counters_from = "traced";
  row.requested_bytes = 9 * 262144;
  row.device_bytes = 9 * 327680;
  row.amplification_ratio = 1.25;
  row.rusage = {1, 2, 0.5, 0.25, 3, 4};
  row.time = {0.1, 0.2, 0.3, 0.4};
  row.syscalls = {{"madvise", std::nullopt, 3, kernel}, {"madvise", "EINVAL", 141, std::nullopt}};
  row.madvise = {{"WILLNEED", "EINVAL", 141, 140, 141 * 16384}, {"WILLNEED", std::nullopt, 3, 0, 3 * 16384}};
  row.hints = {144, 141, 2, 3, 4, 5, 6, 7, 8};
  row.faults = {
      faults(1), faults(2), faults(3), faults(4), 10,  11, 12,
      15,        kernel,    13,        14,        1.5, 4,  {{{70'001, 4096, 4711, "reader-2", "read"}}}};
  row.page_cache = {100, {1, 2, 3, 4, 90}, 60, 40, 20, 10, {0, 1, 2, 3, 34}, kernel};
  row.readahead = Readahead{20, 21, kernel, {{{0, 22}, {9, 23}}}, 24};
  row.block_io = BlockIo{30, 31, kernel, kernel, kernel, 32};
  row.reclaim = Reclaim{40, 39, kernel, 41, 42, 43};
  row.mmap_lock = {lock, lock, {{{"reader-1", "mmap", 2}}}};
  row.unavailable = {{"faults.retried", "example"}};
  row.probes = {{"faults", "tp_btf", "fentry: ENOTSUPP", 4, 5}};
  row.stacks = {{"reader-1", {"main", "search"}, {"filemap_fault", "io_schedule"}, 3, 4}};
  row.stacks_dropped = {5, 6};
  row.events_window_s = 2.5;
  row.events = {
      {"hint", "madvise WILLNEED", 4711, 4712, "reader-1", "/data/index.bin", 8192, 16384, "EINVAL", 17, 18}};
  row.events_dropped = 7;
  return row;
}

inline Totals full_totals(const Row& row) {
  return {row.time,        row.syscalls,      row.madvise,   row.hints,          row.faults,
          row.page_cache,  row.readahead,     row.mmap_lock, row.block_io,       row.reclaim,
          row.unavailable, row.probes,        row.stacks,    row.stacks_dropped, row.events_window_s,
          row.events,      row.events_dropped};
}

inline AttachedFile full_file(const Row& row) {
  return {.path = "/data/_0.fdt",
          .extension = ".fdt",
          .deleted = true,
          .device = "254:1",
          .inode = 12,
          .size_bytes = 1 << 20,
          .mapped_bytes = 1 << 19,
          .resident_bytes = 1 << 18,
          .advice = {{"RANDOM", 1 << 19}},
          .faults = row.faults,
          .page_cache = row.page_cache,
          .wasted_least_pages = 5,
          .wasted_most_pages = 40,
          .hints = row.hints,
          .hint_errors = std::map<std::string, Count>{{"EINVAL", 141}},
          .block_io = row.block_io,
          .reads = FileReads{3, 49152, row.service_ns.value_or(Histogram(kOpSubBits))},
          .order = AccessOrder{1, 2},
          .unavailable = {{"order", "example"}}};
}

inline RunRecord full_record() {
  RunRecord record;
  record.iotrace = "0.1.0";
  record.started = "2026-11-30T15:00:00Z";
  record.seed = std::numeric_limits<std::int64_t>::max();
  record.host = {"6.18.44", "x86_64", "AMD EPYC", 2,         4096,  1ull << 34,
                 0,         true,     "0x0007",   "madvise", "kvm", "v2"};
  record.file = {"/data/index.bin",  1 << 30, true, "ext4", "vda1", 131072, 1310720, "none",
                 {{{0, 7}, {9, 23}}}};
  record.options = {{"mmap", "pread"}, {"cold"}, {"random"}, {1, 4}, {16384}, 16, 1, 0.3, 0.1, 1000, 6, 1,
                    "paired",          "nobody", 1ull << 29};
  record.rows = {full_row()};
  record.ceiling = {{16384, 64, 1e5, 1.6e9}};
  record.second_pass_ratio = 1.5;
  record.target = AttachTarget{"-p 4711", {{4711, "java", "exited"}}, 10.5, 0.01, 0.7, {"a note"}, 3, 4, true};
  record.totals = full_totals(record.rows[0]);
  record.files = {full_file(record.rows[0])};
  record.threads = {{4711, 4712, "search-1", 10.5, 7, 1.5, 2.5, 3.5, 4.5}};
  record.intervals = {{1.5, 1.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0.5, 0.25, 0.125}};
  record.findings = {{"hint-rejected",
                      "fail",
                      {0},
                      "prefetch does nothing",
                      {{"calls", 144}, {"share", 0.98}},
                      "Round the start down to the page.",
                      "madvise, ERRORS"}};
  return record;
}

}
