#include "analysis/compare/moved.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// Counters come from few repetitions and have no interval: less than a quarter may be chance.
constexpr double kNotableChange = 1.25;
// A part of an op's time that made less of the change than this is not why.
constexpr double kNotablePart = 0.2;
constexpr std::size_t kMostSentences = 5;
constexpr int kMostOfFamily = 2;
constexpr std::string_view kTimeFamily = "time";

bool is_time(CounterUnit unit) {
  return unit == CounterUnit::kNsPerOp || unit == CounterUnit::kNanoseconds;
}

std::string sentence(const CounterChange& change) {
  const CounterUnit unit = change.counter->unit;
  const bool per_op = unit == CounterUnit::kPerOp || unit == CounterUnit::kNsPerOp;
  return fmt::format("{} {} to {}{}", change.counter->text, counter_text(unit, change.from),
                     counter_text(unit, change.to), per_op ? " per op" : "");
}

// How many times as much, on a logarithm, where less than the floor is nothing.
double weight(const CounterChange& change) {
  const double floor = change.counter->floor;
  return std::abs(std::log((change.to + floor) / (change.from + floor)));
}

bool fits(const CounterChange& change, double speed) {
  if (speed == 1) return true;
  return change.counter->costs * (change.to - change.from) * (speed - 1) < 0;
}

double ns_per_op(const Row& row) {
  const double ops = ops_of(row.dear_pass ? row.dear_pass : row.traced);
  return ops > 0 ? time_total(row) * 1e9 / ops : 0;
}

// The parts of an op's time that most of the change lies in. Nothing where the traced repetitions did not
// change the way that the others did.
std::vector<std::string> where_the_time_went(const Row& base, const Row& other, double speed,
                                             const std::vector<CounterChange>& changes) {
  const double from = ns_per_op(base), to = ns_per_op(other), whole = to - from;
  if (from <= 0 || to <= 0 || whole * (speed - 1) >= 0) return {};
  std::vector<CounterChange> parts;
  for (const CounterChange& change : changes)
    if (change.counter->family == kTimeFamily && (change.to - change.from) / whole >= kNotablePart)
      parts.push_back(change);
  auto made = [&](const CounterChange& part) { return (part.to - part.from) / whole; };
  std::ranges::stable_sort(parts, std::ranges::greater(), made);
  std::vector<std::string> sentences;
  for (const CounterChange& part : parts)
    sentences.push_back(made(part) <= 1
                            ? fmt::format("{} ({} of the change)", sentence(part), percent(made(part)))
                            : sentence(part));
  return sentences;
}

}

std::string counter_text(CounterUnit unit, double value) {
  switch (unit) {
  case CounterUnit::kNsPerOp:
  case CounterUnit::kNanoseconds: return human_ns(std::round(value));
  case CounterUnit::kShare: return percent(value);
  case CounterUnit::kBytes: return human_bytes(std::round(value));
  case CounterUnit::kPerOp:
  case CounterUnit::kRatio:
  case CounterUnit::kNumber: break;
  }
  return three_digits(value);
}

std::vector<CounterChange> counter_changes(const Row& base, const Row& other) {
  std::vector<CounterChange> changes;
  for (const RowCounter& counter : row_counters()) {
    const auto from = counter.value(base), to = counter.value(other);
    if (from && to && std::isfinite(*from) && std::isfinite(*to)) changes.push_back({&counter, *from, *to});
  }
  return changes;
}

std::vector<std::string> moved_with(const Row& base, const Row& other, double speed,
                                    const std::vector<CounterChange>& changes) {
  std::vector<std::string> sentences;
  if (speed != 1) sentences = where_the_time_went(base, other, speed, changes);

  std::vector<CounterChange> notable;
  for (const CounterChange& change : changes) {
    if (change.counter->family == kTimeFamily || (speed == 1 && is_time(change.counter->unit))) continue;
    if (std::max(change.from, change.to) > change.counter->floor && fits(change, speed) &&
        weight(change) >= std::log(kNotableChange))
      notable.push_back(change);
  }
  std::ranges::stable_sort(notable, std::ranges::greater(), weight);

  std::map<std::string_view, int> told;
  std::size_t left = kMostSentences;
  for (const CounterChange& change : notable) {
    if (left == 0 || told[change.counter->family] == kMostOfFamily) continue;
    ++told[change.counter->family];
    --left;
    sentences.push_back(sentence(change));
  }
  return sentences;
}

}
