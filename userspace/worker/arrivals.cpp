#include "userspace/worker/arrivals.h"

#include <cmath>

namespace iotrace {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr std::uint32_t kSalt = 0xa77;  // apart from the offsets of the same seed, round and thread

// Generator and seeding are the standard's, bit for bit; the distribution is our own, as the standard leaves
// exponential_distribution to the library.
std::mt19937_64 generator(const ArrivalShape& shape) {
  std::seed_seq seed{static_cast<std::uint32_t>(shape.seed), static_cast<std::uint32_t>(shape.seed >> 32),
                     shape.round, shape.thread, kSalt};
  return std::mt19937_64(seed);
}

// Exponential with mean 1, by inversion of a uniform number in (0, 1].
double exponential(std::uint64_t random) {
  return -std::log((static_cast<double>(random >> 11) + 1) * 0x1p-53);
}

}

Arrivals::Arrivals(const ArrivalShape& shape)
    : shape_(shape), generator_(generator(shape)), gap_ns_(kNsPerSecond * shape.threads / shape.rate) {}

std::uint64_t Arrivals::next() {
  if (shape_.poisson) {
    elapsed_ns_ += gap_ns_ * exponential(generator_());
    return static_cast<std::uint64_t>(elapsed_ns_);
  }
  // From the number of the arrival, so that rounding does not add up.
  const auto of_all = static_cast<double>(n_++ * shape_.threads + shape_.thread);
  return static_cast<std::uint64_t>(std::llround(of_all * kNsPerSecond / shape_.rate));
}

}
