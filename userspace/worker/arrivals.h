#pragma once
// When ops are meant to start in an open loop: each thread has a stream of its own at its share of the rate,
// so that a slow op delays what its thread does next and not when that was due.

#include <cstdint>
#include <random>

namespace iotrace {

struct ArrivalShape {
  double rate = 0;      // ops per second, all threads together; above 0
  bool poisson = true;  // else at fixed distances
  std::uint64_t seed = 0;
  std::uint32_t round = 0;
  std::uint32_t thread = 0;  // 0 .. threads - 1
  std::uint32_t threads = 1;
};

// The same shape gives the same stream.
class Arrivals {
public:
  explicit Arrivals(const ArrivalShape& shape);

  // Nanoseconds from the window's opening to the next arrival; never descending. Poisson: gaps with an
  // exponential distribution of mean threads / rate, the first from 0 on. Fixed: the threads take turns, the
  // first of them at 0, so that all arrivals together are 1 / rate apart.
  std::uint64_t next();

private:
  ArrivalShape shape_;
  std::mt19937_64 generator_;
  double gap_ns_;          // mean, of this thread
  std::uint64_t n_ = 0;    // arrivals given out
  double elapsed_ns_ = 0;  // poisson: the last arrival
};

}
