#pragma once
// When a warm-up is over: the rate of operations no longer climbs or falls. A clock alone would end it while
// a processor still speeds up, or page tables still fill.

#include <cstddef>
#include <span>

namespace iotrace {

// Equal slices of time that a verdict is drawn from, the last ones.
inline constexpr std::size_t kSettlingSlices = 8;

// What the rate may still gain or lose over these slices, as a share of their mean.
inline constexpr double kSettledDrift = 0.05;

// A warm-up ends unsettled when it has lasted this many times as long as asked for.
inline constexpr unsigned kLongestWarmUp = 10;

// The straight line through the rates climbs or falls by less than kSettledDrift, or by no more than twice
// its own standard error, that is, by what noise alone does.
//   rates   [n] operations per slice, oldest first; the last kSettlingSlices count
//   false   fewer slices than that, or nothing done in them
//   source  ordinary least squares: slope = S_xy / S_xx, its variance = residual sum / (n - 2) / S_xx
bool settled(std::span<const double> rates);

}
