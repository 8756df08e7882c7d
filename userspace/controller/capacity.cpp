#include "userspace/controller/capacity.h"

#include "analysis/comparison.h"
#include "analysis/statistics.h"

namespace iotrace {

namespace {

// Rounds of their own, or the repetitions that follow would find the pages of their offsets read before.
constexpr std::uint32_t kCapacityRounds = 1u << 30;

// The row as it is measured for its capacity. What its rate is to be makes no difference.
PlannedRow in_closed_loop(PlannedRow row) {
  row.cell.pace = "closed";
  row.cell.rate.reset();
  row.cell.rate_pct.reset();
  row.cell.arrivals.reset();
  row.control = false;
  return row;
}

bool same(const PlannedRow& a, const PlannedRow& b) {
  auto row = [](const PlannedRow& planned) {
    return Row{.case_name = std::string(planned.cache_case->name),
               .pattern = std::string(planned.pattern->name),
               .threads = planned.threads,
               .read_size_bytes = planned.read_size_bytes,
               .reads_per_op = planned.reads_per_op,
               .cell = planned.cell};
  };
  return a.strategy == b.strategy && a.cell.memory_of_file_ratio == b.cell.memory_of_file_ratio &&
         same_cell(row(a), row(b));
}

Result<double> measured(const PlannedRow& row, const Capacities::Repeat& repeat) {
  std::vector<double> rates;
  for (std::uint32_t i = 0; i < kCapacityRepetitions; ++i) {
    auto result = repeat(row, {.round = kCapacityRounds + i});
    if (!result) return Error{"capacity not measured: " + result.error().message, result.error().kind};
    const Repetition& done = result->repetition;
    if (!done.drifted && done.ops > 0 && done.seconds > 0)
      rates.push_back(static_cast<double>(done.ops) / done.seconds);
  }
  if (auto middle = median(rates)) return *middle;
  return Error{
      "capacity not measured: the file did not stay cold in a closed loop; use a larger file, a shorter "
      "--duration, or a --rate in ops per second"};
}

}

Result<double> Capacities::ops_per_s(const PlannedRow& row, const Repeat& repeat) {
  PlannedRow closed = in_closed_loop(row);
  for (const auto& [known, capacity] : known_)
    if (same(known, closed)) return capacity;
  Result<double> capacity = measured(closed, repeat);
  known_.emplace_back(std::move(closed), capacity);
  return capacity;
}

}
