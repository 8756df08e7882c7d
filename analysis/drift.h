#pragma once
// Did a cold repetition warm up while it was measured? (design section 4)

#include <cstdint>
#include <optional>
#include <span>

namespace iotrace {

// A repetition drifted if more than half of the file was resident after it, or if its last quarter was more
// than 1.25 times as fast as its first, by more than chance allows: with few operations a quarter, two
// standard deviations of the difference of two Poisson counts must lie between them as well.
//   ops_per_slot  [slots] operations finished per equal slot of time, first to last slot of the window
bool drifted(std::optional<double> residency_after_ratio, std::span<const std::uint64_t> ops_per_slot);

inline constexpr double kDriftResidency = 0.5;
inline constexpr double kDriftSpeedup = 1.25;

}
