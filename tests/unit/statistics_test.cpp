#include "analysis/statistics.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

using namespace iotrace;

namespace {

using Samples = std::vector<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// first, first + 1, … (n of them)
Samples counting(std::size_t n, double first = 1) {
  Samples samples(n);
  std::iota(samples.begin(), samples.end(), first);
  return samples;
}

}

TEST_CASE("the median is the middle sample, or the mean of the middle two", "[statistics]") {
  CHECK(median(Samples{}) == std::nullopt);
  CHECK(median(Samples{4}) == 4);
  CHECK(median(Samples{9, 1, 5}) == 5);
  CHECK(median(Samples{9, 1, 5, 6}) == 5.5);
  CHECK(median(Samples{3, 3, 3, 3}) == 3);
}

TEST_CASE("samples that are not numbers have no median", "[statistics]") {
  CHECK(median(Samples{1, kNan, 3}) == std::nullopt);
  CHECK(median(Samples{1, 2, kInfinity}) == std::nullopt);
  CHECK(median_interval(Samples{1, 2, 3, 4, 5, kNan}) == Estimate{.n = 6});
}

TEST_CASE("no samples, no estimate", "[statistics]") {
  CHECK(median_interval(Samples{}) == Estimate{});
}

TEST_CASE("below 6 samples there is a median and no interval", "[statistics]") {
  CHECK(median_interval(Samples{7}) == Estimate{.median = 7, .n = 1});
  CHECK(median_interval(Samples{5, 4, 3, 2, 1}) == Estimate{.median = 3, .n = 5});
}

TEST_CASE("the interval of 6 samples is their range", "[statistics]") {
  CHECK(median_interval(Samples{6, 5, 4, 3, 2, 1}) == Estimate{.median = 3.5, .low = 1, .high = 6, .n = 6});
}

TEST_CASE("the interval of equal samples is that value", "[statistics]") {
  CHECK(median_interval(Samples(10, 2.5)) == Estimate{.median = 2.5, .low = 2.5, .high = 2.5, .n = 10});
}

TEST_CASE("the interval takes the innermost ranks that still cover 95 %", "[statistics]") {
  // The interval from rank k to n + 1 - k covers 1 - 2 * (C(n,0) + … + C(n,k-1)) / 2^n.
  // n = 10: k = 2 covers 1 - 2 * (1 + 10) / 1024 = 97.85 %, k = 3 only 1 - 2 * (1 + 10 + 45) / 1024 = 89.06
  // %. The others by the same sum in exact fractions.
  struct Rank {
    std::size_t n, k;
  };
  auto [n, k] = GENERATE(values<Rank>({{6, 1},
                                       {8, 1},
                                       {9, 2},
                                       {10, 2},
                                       {11, 2},
                                       {12, 3},
                                       {15, 4},
                                       {20, 6},
                                       {25, 8},
                                       {50, 18},
                                       {100, 40},
                                       {1000, 469}}));
  Estimate estimate = median_interval(counting(n));
  CAPTURE(n);
  CHECK(estimate.low == static_cast<double>(k));
  CHECK(estimate.high == static_cast<double>(n + 1 - k));
  CHECK(estimate.median == static_cast<double>(n + 1) / 2);
}

TEST_CASE("holm multiplies the smallest p most and never falls", "[statistics]") {
  // 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1 raised to the one before it.
  std::vector<double> adjusted = holm(Samples{0.01, 0.04, 0.03, 0.005});
  REQUIRE(adjusted.size() == 4);
  CHECK(adjusted[0] == Approx(0.03));
  CHECK(adjusted[1] == Approx(0.06));
  CHECK(adjusted[2] == Approx(0.06));
  CHECK(adjusted[3] == Approx(0.02));
}

TEST_CASE("holm stays within 1, and leaves a single p alone", "[statistics]") {
  CHECK(holm(Samples{}).empty());
  CHECK(holm(Samples{0.04}) == Samples{0.04});
  CHECK(holm(Samples{0.6, 0.5, 1}) == Samples{1, 1, 1});
  CHECK(holm(Samples{0, 0, 0}) == Samples{0, 0, 0});
  CHECK(holm(Samples{0.25, 0.25, 0.25}) == Samples{0.75, 0.75, 0.75});
}

TEST_CASE("mean and 99.9 % error as JMH has them") {
  // 1, 2, 3: mean 2, s = 1, t(0.9995; 2) = 31.599, error = 31.599 / sqrt(3).
  auto found = mean_error_999(std::vector{1.0, 2.0, 3.0});
  REQUIRE(found);
  CHECK(found->mean == Approx(2));
  REQUIRE(found->error);
  CHECK(*found->error == Approx(18.2437).epsilon(1e-4));
  // Where E[x^2] - E[x]^2 loses everything.
  CHECK(*mean_error_999(std::vector{1e8 + 1, 1e8 + 2, 1e8 + 3})->error == Approx(18.2437).epsilon(1e-4));
  CHECK_FALSE(mean_error_999(std::vector{1.0})->error);
  CHECK_FALSE(mean_error_999(std::vector<double>{}));
}
