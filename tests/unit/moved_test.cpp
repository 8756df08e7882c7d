#include "analysis/compare/moved.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

using namespace iotrace;

namespace {

// 1000 ops in one traced repetition of a second.
Row counted_row() {
  Row row;
  row.strategy = "a";
  row.threads = 1;
  row.counters_from = "traced";
  row.traced.emplace();
  row.traced->reps.push_back({1000, 1.0});
  return row;
}

FaultClass faults_of(Count count, std::uint64_t latency_ns) {
  FaultClass faults{.count = count};
  if (count > 0) faults.lat_ns.add(latency_ns, count);
  return faults;
}

Row faulting(Count mapped, Count waited, Count read) {
  Row row = counted_row();
  row.faults = Faults{.mapped = faults_of(mapped, 1000),
                      .waited = faults_of(waited, 100'000),
                      .read = faults_of(read, 100'000)};
  return row;
}

std::vector<std::string> moved(const Row& base, const Row& other, double speed) {
  return moved_with(base, other, speed, counter_changes(base, other));
}

bool says(const std::vector<std::string>& sentences, std::string_view text) {
  return std::ranges::find(sentences, text) != sentences.end();
}

}

TEST_CASE("moved: counters have keys of their own") {
  std::set<std::string_view> keys;
  for (const RowCounter& counter : row_counters()) CHECK(keys.insert(counter.key).second);
}

TEST_CASE("moved: what only one row counted is not compared") {
  CHECK(counter_changes(counted_row(), faulting(1, 2, 3)).empty());
  Row without_ops = faulting(1, 2, 3);
  without_ops.traced = std::nullopt;
  for (const CounterChange& change : counter_changes(without_ops, without_ops))
    CHECK(change.counter->key == "faults.waiting_p99_ns");
}

TEST_CASE("moved: faults that wait fall as the row gets faster") {
  const auto sentences = moved(faulting(0, 0, 80'000), faulting(78'000, 1'000, 1'000), 4);
  CHECK(says(sentences, "faults that wait for the device 80.0 to 2.00 per op"));
  CHECK(sentences.size() == 1);
}

TEST_CASE("moved: what moved against the change explains nothing, nor does what hardly moved") {
  CHECK(moved(faulting(0, 0, 80'000), faulting(78'000, 1'000, 1'000), 0.5).empty());
  CHECK(moved(faulting(0, 0, 80'000), faulting(0, 0, 70'000), 1.1).empty());
  CHECK(moved(faulting(0, 0, 10), faulting(0, 0, 30), 0.5).empty());  // 0.01 and 0.03 per op
}

TEST_CASE("moved: where an op's time went, with its part of the change") {
  Row a = counted_row(), b = counted_row();
  a.time = TimeSplit{.running_s = 0.1, .fault_wait_s = 0.9, .read_wait_s = 0, .lock_wait_s = 0};
  b.traced->reps[0].ops = 4000;
  b.time = TimeSplit{.running_s = 0.5, .fault_wait_s = 0.5, .read_wait_s = 0, .lock_wait_s = 0};
  // 1 ms to 250 us per op, of which faults are 900 us to 125 us, running 100 us to 125 us
  CHECK(moved(a, b, 4) == std::vector<std::string>{"waits in faults 900 us to 125 us per op"});
  b.time->running_s = 0.2;
  b.time->fault_wait_s = 0.8;
  CHECK(moved(a, b, 4) ==
        std::vector<std::string>{"waits in faults 900 us to 200 us per op (93.3 % of the change)"});
  // The traced repetitions were slower in the row that is proven faster: they explain nothing.
  CHECK(moved(b, a, 4).empty());
}

TEST_CASE("moved: where times say nothing, counts alone are told, whichever way they went") {
  const Row a = faulting(0, 0, 1'000), b = faulting(0, 0, 5'000);
  CHECK(says(moved(a, b, 1), "faults that wait for the device 1.00 to 5.00 per op"));
  CHECK(says(moved(b, a, 1), "faults that wait for the device 5.00 to 1.00 per op"));
  Row slow = b;
  slow.faults->read = faults_of(5'000, 100'000'000);
  CHECK(says(moved(b, slow, 0.5), "p99 of faults that wait 100 us to 100 ms"));
  CHECK(moved(b, slow, 1).empty());
}

TEST_CASE("moved: faults under mmap_lock and waits for it") {
  Row a = faulting(1000, 0, 0), b = a;
  a.faults->under_mmap_lock = 1000;
  a.faults->under_vma_lock = 0;
  b.faults->under_mmap_lock = 30;
  b.faults->under_vma_lock = 970;
  a.mmap_lock.emplace();
  a.mmap_lock->read.emplace();
  a.mmap_lock->read->wait_ns.add(1'900'000, 10);
  b.mmap_lock.emplace();
  b.mmap_lock->read.emplace();
  b.mmap_lock->read->wait_ns.add(4'000, 10);
  const auto sentences = moved(a, b, 1.5);
  CHECK(says(sentences, "faults under mmap_lock 100 % to 3 %"));
  CHECK(says(sentences, "mmap_lock read wait p99 1.90 ms to 4.00 us"));
}

TEST_CASE("moved: two counters of a family at most") {
  Row a = counted_row(), b = counted_row();
  a.hints = Hints{.needless_pages = 10'000, .useless_pages = 20'000, .suppressed_absent_pages = 30'000};
  b.hints = Hints{.needless_pages = 0, .useless_pages = 0, .suppressed_absent_pages = 0};
  CHECK(moved(a, b, 2).size() == 2);
}
