#pragma once
// Busy work of a known length: what a program computes between its hint and its read (--compute).

#include <cstdint>

namespace iotrace {

// Returns when `ns` have passed on the clock. Spins without a system call; a thread that is taken off its
// processor meanwhile does not make up for it.
void compute_for(std::uint64_t ns);

}
