#pragma once
// Waiting for a time inside the measured window, by calls that no probe follows.

#include <cstdint>

namespace iotrace {

// By clock_nanosleep(2), CLOCK_MONOTONIC. May return early, when a signal comes.
void sleep_until(std::uint64_t at_ns);

// The calling thread's sleeps end when they should, not up to 50 us later, as is Linux's default.
void sleep_precisely();

// Whoever sleeps looks at least this often whether the window is over.
inline constexpr std::uint64_t kLongestSleepNs = 5'000'000;

}
