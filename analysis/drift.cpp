#include "analysis/drift.h"

#include <cmath>
#include <numeric>

namespace iotrace {

bool drifted(std::optional<double> residency_after_ratio, std::span<const std::uint64_t> ops_per_slot) {
  if (residency_after_ratio && *residency_after_ratio > kDriftResidency) return true;
  const std::size_t quarter = ops_per_slot.size() / 4;
  if (quarter == 0) return false;
  auto sum = [](std::span<const std::uint64_t> slots) {
    return static_cast<double>(std::accumulate(slots.begin(), slots.end(), std::uint64_t{0}));
  };
  const double first = sum(ops_per_slot.first(quarter));
  const double last = sum(ops_per_slot.last(quarter));
  constexpr double kDeviations = 2.0;
  return last > kDriftSpeedup * first && last - first > kDeviations * std::sqrt(first + last);
}

}
