// Reference values come from the publications named, and were checked by an enumeration of all splits of the
// pooled samples in exact fractions.

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "analysis/statistics.h"

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

// base^0, base^step, base^(2 step), … (n of them)
Samples powers(std::size_t n, double base, std::size_t step) {
  Samples samples;
  for (std::size_t i = 0; i < n; ++i) samples.push_back(std::pow(base, static_cast<double>(i * step)));
  return samples;
}

// Rank, from below, of the interval's lower end among the m n ratios. The samples are such that the ratios
// are base^(1 - m), base^(2 - m), …, each once.
long rank_of_low(std::size_t m, std::size_t n) {
  double base = 1.125;
  Estimate estimate = ratio_interval(powers(m, base, 1), powers(n, base, m));
  return std::lround(std::log(*estimate.low) / std::log(base)) + static_cast<long>(m);
}

}

TEST_CASE("separated samples have the p of 2 orders among all", "[mann-whitney]") {
  CHECK(mann_whitney_p(counting(6), counting(6, 7)) == 2.0 / 924);
  CHECK(mann_whitney_p(counting(6, 7), counting(6)) == 2.0 / 924);
  CHECK(mann_whitney_p(counting(10), counting(10, 11)) == 2.0 / 184756);
  CHECK(mann_whitney_p(counting(3), counting(5, 4)) == 2.0 / 56);
  CHECK(mann_whitney_p(counting(50), counting(50, 51)).value() ==
        Approx(1.9823306042836678e-29).epsilon(1e-12));
}

TEST_CASE("the water transfer example of Hollander & Wolfe, table 4.1", "[mann-whitney]") {
  Samples at_term = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  Samples at_12_to_26_weeks = {1.15, 0.88, 0.90, 0.74, 1.21};
  // U = 35. R's wilcox.test gives 0.1272 one-sided; 764 of the 3003 splits are as far out or farther.
  CHECK(mann_whitney_p(at_term, at_12_to_26_weeks).value() == Approx(764.0 / 3003).epsilon(1e-14));
  CHECK(mann_whitney_p(at_12_to_26_weeks, at_term).value() == Approx(764.0 / 3003).epsilon(1e-14));
}

TEST_CASE("the example of scipy.stats.mannwhitneyu", "[mann-whitney]") {
  CHECK(mann_whitney_p(Samples{19, 22, 16, 29, 24}, Samples{20, 11, 17, 12}).value() == Approx(14.0 / 126));
}

TEST_CASE("the ties example of R's wilcox.test: ozone in May and in August", "[mann-whitney]") {
  // airquality, W = 127.5, p = 0.0001208: normal approximation with tie and continuity correction.
  Samples may = {41, 36, 12, 18, 28, 23, 19, 8, 7,  16, 11, 14,  18,
                 14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37};
  Samples august = {39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
                    59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
  CHECK(mann_whitney_p(may, august).value() == Approx(0.00012080783076884316).epsilon(1e-9));
  CHECK(mann_whitney_p(august, may).value() == Approx(0.00012080783076884316).epsilon(1e-9));
}

TEST_CASE("samples that interleave evenly have p = 1", "[mann-whitney]") {
  CHECK(mann_whitney_p(Samples{1, 4}, Samples{2, 3}) == 1);
  CHECK(mann_whitney_p(Samples{1}, Samples{2}) == 1);
}

TEST_CASE("equal samples have p = 1", "[mann-whitney]") {
  CHECK(mann_whitney_p(Samples(8, 3.5), Samples(8, 3.5)) == 1);
  CHECK(mann_whitney_p(Samples{1}, Samples{1}) == 1);
  CHECK(mann_whitney_p(counting(10), counting(10)) == 1);
}

TEST_CASE("an empty side or a sample that is not a number has no p", "[mann-whitney]") {
  CHECK(mann_whitney_p(Samples{}, Samples{1, 2}) == std::nullopt);
  CHECK(mann_whitney_p(Samples{1, 2}, Samples{}) == std::nullopt);
  CHECK(mann_whitney_p(Samples{1, kNan}, Samples{1, 2}) == std::nullopt);
  CHECK(mann_whitney_p(Samples{1, 2}, Samples{kInfinity, 2}) == std::nullopt);
}

TEST_CASE("past 50 samples a side the exact p gives way to the approximation", "[mann-whitney]") {
  // Both sides step by 2, the second 13 higher. Exact p, counted in whole numbers: 0.036018 and, for 51,
  // 0.037633; the approximation gives 0.036414 and 0.038011.
  auto p = [](std::size_t n) {
    Samples a, b;
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(static_cast<double>(2 * i));
      b.push_back(static_cast<double>(2 * i + 13));
    }
    return mann_whitney_p(a, b).value();
  };
  CHECK(p(50) == Approx(0.0360178078648808).epsilon(1e-12));
  CHECK(p(51) == Approx(0.038010705203973316).epsilon(1e-9));
}

TEST_CASE("the ratio of a sample to itself scaled is the scale", "[ratio]") {
  Samples a = {8, 9, 10, 11, 12, 13, 14};
  Samples b;
  for (double x : a) b.push_back(2 * x);
  Estimate estimate = ratio_interval(a, b);
  CHECK(estimate.median == 2);
  CHECK(*estimate.low < 2);
  CHECK(*estimate.high > 2);
  CHECK(estimate.n == 7);
}

TEST_CASE("the ratio of equal samples is exactly 1", "[ratio]") {
  Estimate same = ratio_interval(Samples(6, 0.3), Samples(6, 0.3));
  CHECK(same == Estimate{.median = 1, .low = 1, .high = 1, .n = 6});
}

TEST_CASE("the ratio is the median of all ratios", "[ratio]") {
  // 6/2, 6/3, 12/2, 12/3 = 2 3 4 6: the geometric mean of 3 and 4.
  Estimate estimate = ratio_interval(Samples{2, 3}, Samples{6, 12});
  CHECK(estimate.median.value() == Approx(std::sqrt(12.0)));
  CHECK(estimate.low == std::nullopt);
  CHECK(estimate.high == std::nullopt);
  CHECK(estimate.n == 2);
}

TEST_CASE("swapping the sides inverts ratio and interval", "[ratio]") {
  Samples a = {10.1, 9.7, 10.4, 9.9, 10.6, 10.0};
  Samples b = {12.3, 11.8, 12.9, 12.1, 11.5, 12.6, 12.2};
  Estimate forth = ratio_interval(a, b);
  Estimate back = ratio_interval(b, a);
  CHECK(*back.median == Approx(1 / *forth.median));
  CHECK(*back.low == Approx(1 / *forth.high));
  CHECK(*back.high == Approx(1 / *forth.low));
  CHECK(forth.n == 6);
  CHECK(back.n == 6);
}

TEST_CASE("the ends of the interval are those of the published critical values", "[ratio]") {
  // Two-sided 5 % critical values of U (tables after Mann & Whitney 1947): 5 for 6 and 6, 23 for 10 and 10, …
  // The interval starts at the ratio of the next rank.
  CHECK(rank_of_low(6, 6) == 5 + 1);
  CHECK(rank_of_low(6, 7) == 6 + 1);
  CHECK(rank_of_low(6, 10) == 11 + 1);
  CHECK(rank_of_low(7, 7) == 8 + 1);
  CHECK(rank_of_low(8, 8) == 13 + 1);
  CHECK(rank_of_low(9, 10) == 20 + 1);
  CHECK(rank_of_low(10, 10) == 23 + 1);
  CHECK(rank_of_low(15, 15) == 64 + 1);
  CHECK(rank_of_low(20, 20) == 127 + 1);
}

TEST_CASE("exact and approximate critical values meet at 50 samples", "[ratio]") {
  // Counted in exact integers: 966 for 50 and 50, 1008 for 51 and 51.
  CHECK(rank_of_low(50, 50) == 966);
  CHECK(rank_of_low(51, 51) == 1008);
}

TEST_CASE("the interval leaves 1 out exactly when the test finds a difference", "[ratio]") {
  // b is a, moved up step by step past ever more of a's samples; never tied.
  Samples a = counting(10, 100);
  bool found = false;
  for (double shift = 0.5; shift < 12; shift += 1) {
    Samples b = counting(10, 100 + shift);
    Estimate estimate = ratio_interval(a, b);
    bool differs = mann_whitney_p(a, b).value() <= 0.05;
    CAPTURE(shift);
    CHECK((*estimate.low > 1) == differs);
    found |= differs;
  }
  CHECK(found);
}

TEST_CASE("below 6 samples on either side the ratio has no interval", "[ratio]") {
  CHECK(ratio_interval(Samples(5, 2), Samples(20, 6)) == Estimate{.median = 3, .n = 5});
  CHECK(ratio_interval(Samples(20, 2), Samples(5, 6)) == Estimate{.median = 3, .n = 5});
  CHECK(ratio_interval(Samples{2}, Samples{6}) == Estimate{.median = 3, .n = 1});
}

TEST_CASE("a side that is empty or not positive has no ratio", "[ratio]") {
  CHECK(ratio_interval(Samples{}, counting(6)) == Estimate{});
  CHECK(ratio_interval(counting(6), Samples{}) == Estimate{});
  for (double bad : {0.0, -1.0, kNan, kInfinity}) {
    Samples samples = counting(6);
    samples[3] = bad;
    CAPTURE(bad);
    CHECK(ratio_interval(samples, counting(7)) == Estimate{.n = 6});
    CHECK(ratio_interval(counting(7), samples) == Estimate{.n = 6});
  }
}
