#pragma once
// Random numbers that are the same on every machine: generator and seeding are the standard's, bit for bit,
// and the reduction is our own (the standard leaves its distributions to the library).

#include <cstdint>
#include <random>

#include "userspace/patterns/pattern.h"

namespace iotrace {

// One stream per (seed, round, thread).
inline std::mt19937_64 random_bits(const PatternShape& shape) {
  std::seed_seq seed{static_cast<std::uint32_t>(shape.seed), static_cast<std::uint32_t>(shape.seed >> 32),
                     shape.round, shape.thread};
  return std::mt19937_64(seed);
}

// A number in [0, bound) from 64 random bits: the high half of the product.
//   source   Lemire 2019, "Fast Random Integer Generation in an Interval", without the rejection step; what
//            remains of bias is bound / 2^64
inline std::uint64_t reduce(std::uint64_t random, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * bound) >> 64);
}

}
