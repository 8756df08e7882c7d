// Arrivals of an open loop follow their distribution, and the same seed gives the same ones.

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "userspace/worker/arrivals.h"

using namespace iotrace;

namespace {

std::vector<std::uint64_t> first(std::size_t n, const ArrivalShape& shape) {
  Arrivals arrivals(shape);
  std::vector<std::uint64_t> times(n);
  for (std::uint64_t& time : times) time = arrivals.next();
  return times;
}

}

TEST_CASE("gaps of Poisson arrivals are exponential, by Kolmogorov and Smirnov") {
  // 4 threads at 2000 ops/s: each thread every 2 ms.
  constexpr double kMeanNs = 2e6;
  constexpr std::size_t kGaps = 10'000;
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    auto times = first(kGaps, {.rate = 2000, .seed = 42, .thread = thread, .threads = 4});
    std::vector<double> gaps;
    std::uint64_t last = 0;
    for (std::uint64_t time : times) {
      REQUIRE(time >= last);
      gaps.push_back(static_cast<double>(time - last));
      last = time;
    }
    // The mean of n exponential gaps spreads by mean / sqrt(n) = 1 %: four of these.
    CHECK(static_cast<double>(last) / kGaps == Approx(kMeanNs).epsilon(0.04));

    std::ranges::sort(gaps);
    double distance = 0;
    for (std::size_t i = 0; i < kGaps; ++i) {
      const double expected = 1 - std::exp(-gaps[i] / kMeanNs);
      distance = std::max({distance, std::abs(expected - static_cast<double>(i) / kGaps),
                           std::abs(expected - static_cast<double>(i + 1) / kGaps)});
    }
    // Kolmogorov: P(distance > 1.95 / sqrt(n)) is 2 exp(-2 * 1.95^2) = 0.001.
    CHECK(distance < 1.95 / std::sqrt(kGaps));
  }
}

TEST_CASE("fixed arrivals of all threads together are one distance apart") {
  std::vector<std::uint64_t> all;
  for (std::uint32_t thread = 0; thread < 4; ++thread)
    for (std::uint64_t time :
         first(25, {.rate = 1000, .poisson = false, .seed = 42, .thread = thread, .threads = 4}))
      all.push_back(time);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == i * 1'000'000);
}

TEST_CASE("arrivals replay from seed, round and thread, and differ where one of these does") {
  const ArrivalShape shape{.rate = 1000, .seed = 42, .round = 3, .thread = 1, .threads = 2};
  const auto times = first(100, shape);
  CHECK(first(100, shape) == times);
  for (auto other : {ArrivalShape{.rate = 1000, .seed = 43, .round = 3, .thread = 1, .threads = 2},
                     ArrivalShape{.rate = 1000, .seed = 42, .round = 4, .thread = 1, .threads = 2},
                     ArrivalShape{.rate = 1000, .seed = 42, .round = 3, .thread = 0, .threads = 2}})
    CHECK(first(100, other) != times);
}
