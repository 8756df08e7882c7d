#pragma once
// The statistics of design section 6. The repetition is the unit: a sample is one repetition's value.
// Nothing here removes an outlier, a statistic of too few samples is "no value", and so is one of samples
// among which one is not a finite number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace iotrace {

// A median with the interval that holds the true one with at least 95 % probability. `low` and `high` are
// nullopt below kFewestSamplesForInterval samples; `median` is nullopt without samples.
struct Estimate {
  std::optional<double> median;
  std::optional<double> low;
  std::optional<double> high;
  std::uint32_t n = 0;

  bool operator==(const Estimate&) const = default;
};

// The range of 5 samples covers the median with 93.75 %, that of 6 with 96.9 %.
inline constexpr std::uint32_t kFewestSamplesForInterval = 6;

// What a 95 % interval may miss on each side.
inline constexpr double kIntervalTail = 0.025;

// Up to this many samples a side the Mann-Whitney distribution is counted; past it the normal approximation
// gives the same critical value to within 1 (at 51 a side: 1008, both).
inline constexpr std::size_t kMostSamplesForExactTest = 50;

// The interval runs from the k-th smallest to the k-th largest sample, with the largest k (the narrowest
// interval) that still covers the median with 95 %.
//   samples  [n] any order
//   source   interval from order statistics: Conover, Practical Nonparametric Statistics, 3.2
Estimate median_interval(std::span<const double> samples);

// Of an even number of samples, the mean of the middle two.
std::optional<double> median(std::span<const double> samples);

// Two-sided p of the Mann-Whitney U test. Exact (counted) without ties for up to kMostSamplesForExactTest
// samples a side, else the normal approximation with tie and continuity correction; 1 where all samples are
// equal. nullopt if a side is empty.
//   source   Mann & Whitney 1947; Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 4.1
std::optional<double> mann_whitney_p(std::span<const double> a, std::span<const double> b);

// Ratio of b to a: the median of all b[j] / a[i] (Hodges-Lehmann on logarithms, so of an even number of
// them the geometric mean of the middle two), with the 95 % interval that inverts the Mann-Whitney test.
// low and high are nullopt where either side has fewer than kFewestSamplesForInterval samples; all nullopt
// where a side is empty or a sample is not positive. n is the smaller side. O(|a| |b|) memory.
//   source  Hodges & Lehmann 1963; Hollander, Wolfe & Chicken, 4.2 and 4.3
Estimate ratio_interval(std::span<const double> a, std::span<const double> b);

// A mean with the half-width of its 99.9 % interval by Student's t, as JMH prints "Score ± Error". It takes
// the samples for normally distributed, which throughput of few repetitions seldom is: for comparison with
// published JMH tables alone.
struct MeanError {
  double mean = 0;
  std::optional<double> error;  // nullopt: fewer than two samples
};

// nullopt without samples, or where one is not a finite number.
//   source   JMH, AbstractStatistics.getMeanErrorAt(0.999)
std::optional<MeanError> mean_error_999(std::span<const double> samples);

// Holm's step-down correction: adjusted p values in the order of the input, each in [0, 1].
//   p       [n] each in [0, 1]
//   source  Holm 1979
std::vector<double> holm(std::span<const double> p);

}
