#pragma once
// The counters that can explain why one row is faster than another: per op, so that rows of different lengths
// compare, and each with the direction in which it costs time.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

enum class CounterUnit { kPerOp, kNsPerOp, kNanoseconds, kShare, kRatio, kNumber, kBytes };

struct RowCounter {
  std::string_view key;     // "faults.waiting_per_op"
  std::string_view text;    // "faults that wait for the device": stands before "80.1 to 2.0 per op"
  std::string_view family;  // of one family, two are told at most
  CounterUnit unit;
  int costs;     // 1: more of it takes time; -1: less of it does; 0: neither can be said
  double floor;  // what is next to nothing: smaller values are as good as this
  // nullopt: not counted, or there was nothing to count it by.
  std::optional<double> (*value)(const Row&);
};

// One entry each in counter_list.cpp.
std::span<const RowCounter> row_counters();

struct CounterChange {
  const RowCounter* counter = nullptr;
  double from = 0, to = 0;
};

// All counters that both rows have.
std::vector<CounterChange> counter_changes(const Row& base, const Row& other);

// The sentences of what moved with the throughput, the weightiest first: which part of an op's time, then
// counters that changed by more than a quarter in the direction that fits. Empty: none did.
//   speed   > 1: `other` is faster; 1: timings say nothing, and every counter that changed is told
std::vector<std::string> moved_with(const Row& base, const Row& other, double speed,
                                    const std::vector<CounterChange>& changes);

// "80.1", "4.2 ms", "12.5 %", "16 KiB": the number with its unit, but for "per op".
std::string counter_text(CounterUnit unit, double value);

}
