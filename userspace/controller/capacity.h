#pragma once
// What a row can do at most, for rates that are asked for in percent of it: measured in a closed loop,
// without probes, in the row's own case and cell, before its first repetition.

#include <functional>
#include <utility>
#include <vector>

#include "analysis/result.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/repetition.h"

namespace iotrace {

class Capacities {
public:
  // How a repetition is run: run_repetition with all but its last two arguments bound.
  using Repeat = std::function<Result<RepetitionResult>(const PlannedRow&, const PlannedRepetition&)>;

  // Ops per second of all the row's threads together: the median of kCapacityRepetitions. Rows that differ in
  // their rate alone share one measurement, and so does the A/A control.
  //   errors   failed: the capacity could not be measured, and why (a repetition failed, or did not stay
  //   cold)
  Result<double> ops_per_s(const PlannedRow& row, const Repeat& repeat);

private:
  std::vector<std::pair<PlannedRow, Result<double>>> known_;
};

inline constexpr std::uint32_t kCapacityRepetitions = 3;

}
