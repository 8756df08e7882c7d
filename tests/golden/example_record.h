#pragma once
// Records built by hand, with numbers small enough to check by hand: a repetition lasts one second, so that
// 2000 ops are 2 ops/ms, and one op reads 16 x 16 KiB = 256 KiB.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/run_record.h"
#include "analysis/summary.h"

namespace iotrace::test {

// Compares with tests/golden/expected/NAME; with IOTRACE_UPDATE_GOLDEN set in the environment writes it.
inline std::string expected_text(const std::string& name, const std::string& actual) {
  std::string path = std::string(IOTRACE_SOURCE_DIR) + "/tests/golden/expected/" + name;
  if (std::getenv("IOTRACE_UPDATE_GOLDEN")) std::ofstream(path) << actual;
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline constexpr std::uint64_t kOpBytes = 16 * 16384;

inline RunRecord example_record() {
  RunRecord record;
  record.iotrace = "0.1.0";
  record.started = "2026-11-30T15:00:00Z";
  record.seed = 42;
  record.host = {.kernel = "6.18.44",
                 .machine = "x86_64",
                 .cpu = "AMD EPYC 7763",
                 .cpus = 2,
                 .page_size_bytes = 4096,
                 .memory_bytes = 8ull << 30,
                 .per_vma_locks = true,
                 .virtualisation = "kvm",
                 .cgroup = "v1"};
  record.file = {.path = "/data/iotrace-scratch-4711",
                 .size_bytes = 1ull << 30,
                 .scratch = true,
                 .fs = "ext4",
                 .device = "vda1",
                 .read_ahead_bytes = 8 << 20,
                 .scheduler = "none"};
  record.options = {.strategies = {"mmap-random", "pread"},
                    .cases = {"cold"},
                    .patterns = {"random"},
                    .threads = {1, 4},
                    .read_size_bytes = {16384},
                    .duration_s = 1,
                    .reps = 6,
                    .traced_reps = 1,
                    .probes = "paired",
                    .user = "nobody (65534)"};
  return record;
}

inline Measurement measured(const std::vector<Count>& ops_of_reps, double residency_after = 0.125) {
  Measurement measurement;
  for (Count ops : ops_of_reps) {
    measurement.reps.push_back({ops, 1.0, 0.0, residency_after, residency_after > 0.5});
    measurement.lat_ns.add(1'000'000'000 / std::max<Count>(ops, 1), ops);
  }
  return measurement;
}

// A cold row of six repetitions without probes and one with: reads what it asks for, no faults, no hints.
inline Row cold_row(const std::string& strategy, std::uint32_t threads,
                    const std::vector<Count>& ops_of_reps) {
  Row row;
  row.strategy = strategy;
  row.case_name = "cold";
  row.pattern = "random";
  row.threads = threads;
  row.read_size_bytes = 16384;
  row.reads_per_op = 16;
  row.cell.memory_limit_bytes = 512ull << 20;
  row.untraced = measured(ops_of_reps);
  Count traced_ops = ops_of_reps.front();
  row.traced = measured({traced_ops});
  row.counters_from = "traced";
  row.requested_bytes = traced_ops * kOpBytes;
  row.device_bytes = row.requested_bytes;
  row.rusage = Rusage{.user_s = 0.05 * threads, .system_s = 0.2 * threads, .ctx_voluntary = 16 * traced_ops};
  row.madvise.emplace();
  row.faults = Faults{.mapped = FaultClass{},
                      .waited = FaultClass{},
                      .read = FaultClass{},
                      .minor = 0,
                      .major = 0,
                      .under_vma_lock = 0,
                      .under_mmap_lock = 0};
  row.probes = {{.name = "faults", .variant = "tp_btf"}, {.name = "syscalls", .variant = "raw_tp"}};
  return row;
}

inline FaultClass faults_of(Count count, std::uint64_t latency_ns) {
  FaultClass faults{.count = count};
  if (count > 0) faults.lat_ns.add(latency_ns, count);
  return faults;
}

// The same under MADV_RANDOM: each op faults on 80 pages, each of which the device reads for 100 us.
inline Row mmap_random_row(const std::string& strategy, std::uint32_t threads,
                           const std::vector<Count>& ops_of_reps) {
  Row row = cold_row(strategy, threads, ops_of_reps);
  Count ops = ops_of_reps.front();
  row.faults->read = faults_of(80 * ops, 100'000);
  row.faults->major = row.rusage->major_faults = 80 * ops;
  row.faults->under_mmap_lock = 80 * ops;
  row.device_bytes = 80 * ops * 4096;
  row.page_cache = PageCache{.added_pages = 80 * ops};
  return row;
}

// mmap-random with hints of which the kernel refuses all.
inline Row misaligned_row(std::uint32_t threads, const std::vector<Count>& ops_of_reps) {
  Row row = mmap_random_row("mmap-random-willneed-misaligned", threads, ops_of_reps);
  Count calls = 16 * ops_of_reps.front();
  row.expects = {.hints = true, .differs_from = "mmap-random"};
  row.madvise = {{.advice = "WILLNEED",
                  .error = "EINVAL",
                  .calls = calls,
                  .misaligned = calls,
                  .requested_bytes = calls * 16384}};
  return row;
}

// mmap-random with hints that work: of 80 faults per op 48 find their page, 30 wait for it, 2 read.
inline Row hinted_row(std::uint32_t threads, const std::vector<Count>& ops_of_reps) {
  Row row = mmap_random_row("mmap-random-willneed", threads, ops_of_reps);
  Count ops = ops_of_reps.front(), calls = 16 * ops;
  row.expects = {.hints = true, .differs_from = "mmap-random"};
  row.madvise = {{.advice = "WILLNEED", .calls = calls, .requested_bytes = calls * 16384}};
  row.faults->mapped = faults_of(48 * ops, 2'000);
  row.faults->waited = faults_of(30 * ops, 40'000);
  row.faults->read = faults_of(2 * ops, 100'000);
  row.faults->under_mmap_lock = 32 * ops;
  row.faults->under_vma_lock = 48 * ops;
  return row;
}

// mmap under MADV_NORMAL: each op reads 2000 pages ahead and uses 50 of them; 30 faults of 80 pages read.
inline Row waste_row(std::uint32_t threads, const std::vector<Count>& ops_of_reps) {
  Row row = cold_row("mmap", threads, ops_of_reps);
  Count ops = ops_of_reps.front();
  row.faults->mapped = faults_of(50 * ops, 2'000);
  row.faults->read = faults_of(30 * ops, 5'000'000);
  row.device_bytes = 2030 * ops * 4096;
  row.page_cache =
      PageCache{.added_pages = 2030 * ops,
                .by = {.fault = 30 * ops, .readahead = 2000 * ops, .hint = 0, .read = 0, .other = 0},
                .used_pages = 80 * ops,
                .wasted_pages = 1950 * ops,
                .evicted_pages = 0,
                .refault_pages = 0,
                .wasted_by = {.fault = 0, .readahead = 1950 * ops, .hint = 0, .read = 0, .other = 0}};
  return row;
}

inline Histogram latencies(Count count, std::uint64_t latency_ns) {
  Histogram histogram(kKernelSubBits);
  histogram.add(latency_ns, count);
  return histogram;
}

// Of `acquired`, the first `contended` waited for wait_ns each, the others 200 ns for a free lock.
inline LockSide lock_side(Count acquired, Count contended, std::uint64_t wait_ns) {
  LockSide side{.acquired = acquired, .contended = contended};
  if (acquired > contended) side.wait_ns.add(200, acquired - contended);
  if (contended > 0) side.wait_ns.add(wait_ns, contended);
  return side;
}

inline const std::vector<Count> kOps{120, 121, 122, 119, 118, 120};

inline RunRecord record_of(std::vector<Row> rows) {
  RunRecord record = example_record();
  record.rows = std::move(rows);
  summarise(record);
  return record;
}

inline std::vector<Finding> fired(const RunRecord& record, std::string_view id) {
  std::vector<Finding> findings = judge(record);
  std::erase_if(findings, [&](const Finding& finding) { return finding.id != id; });
  return findings;
}

}
