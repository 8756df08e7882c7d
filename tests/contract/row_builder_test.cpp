// Repetitions added up to a row by hand: which numbers come from which of them.

#include <catch2/catch.hpp>

#include "analysis/summary.h"
#include "userspace/cases/case.h"
#include "userspace/controller/row_builder.h"

using namespace iotrace;

namespace {

PlannedRow planned() {
  return {.strategy = find_strategy("mmap-random"),
          .cache_case = find_case("cold"),
          .pattern = find_pattern("random"),
          .threads = 2,
          .read_size_bytes = 4096,
          .reads_per_op = 16};
}

// `seconds` of two threads; as many faults as told, and as many pages added.
RepetitionResult repetition(double seconds, Count faults, Count lost) {
  RepetitionResult result;
  result.repetition = {.ops = 100, .seconds = seconds};
  result.thread_seconds = 2 * seconds;
  ProbeReadings& readings = result.readings.emplace();
  readings.faults.emplace().read = FaultClass{.count = faults};
  readings.page_cache.emplace().added_pages = faults;
  readings.mmap_lock.emplace().read = LockSide{.acquired = faults};
  readings.time = TimeSplit{.fault_wait_s = seconds, .read_wait_s = 0, .lock_wait_s = 0};
  readings.probes = {{.name = "faults", .variant = "tp_btf", .lost = lost}};
  return result;
}

}

TEST_CASE("a row's counters are sums over its traced repetitions") {
  RowBuilder builder(planned());
  builder.add(repetition(1, 7, 0), true);
  builder.add(repetition(1, 5, 2), true);
  const Row row = std::move(builder).finish();
  CHECK(row.faults->read->count == 12);
  CHECK(row.page_cache->added_pages == 12);
  CHECK(row.mmap_lock->read->acquired == 12);
  CHECK(row.time->running_s == Approx(2));
  CHECK(row.faults->blocked_threads_avg == Approx(1));  // 2 s of waiting in 2 s
  CHECK(row.probes[0].lost == 2);
  CHECK_FALSE(row.dear_pass);
  CHECK(row.reads_per_op == 16);
}

TEST_CASE("what is dear comes from the pass that had it, the rest from the one that had not") {
  RowBuilder builder(planned());
  builder.add(repetition(1, 7, 1), true);
  builder.add_dear_pass(repetition(1.25, 11, 3));
  RunRecord record;
  record.rows.push_back(std::move(builder).finish());
  summarise(record);
  const Row& row = record.rows[0];
  CHECK(row.faults->read->count == 11);
  CHECK(row.mmap_lock->read->acquired == 11);
  CHECK(row.page_cache->added_pages == 7);
  CHECK(row.time->fault_wait_s == Approx(1.25));
  CHECK(row.time->running_s == Approx(1.25));  // 2 x 1.25 s less the wait
  CHECK(row.faults->blocked_threads_avg == Approx(1));
  CHECK_FALSE(row.unavailable.contains("faults.blocked_threads_avg"));
  CHECK(row.probes[0].lost == 4);
  CHECK(row.traced->reps.size() == 1);
  CHECK(row.dear_pass->reps.size() == 1);
  CHECK(row.dear_cost_ratio->median == Approx(0.8));
}
