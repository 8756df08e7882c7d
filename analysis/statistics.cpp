#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace iotrace {

namespace {

// Ascending; empty where a sample is not a finite number, which has no rank.
std::vector<double> ranked(std::span<const double> samples) {
  if (!std::ranges::all_of(samples, [](double x) { return std::isfinite(x); })) return {};
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted;
}

std::optional<double> middle(std::span<const double> sorted) {
  if (sorted.empty()) return std::nullopt;
  std::size_t n = sorted.size();
  return std::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
}

// Largest k so that the k-th smallest of n samples lies above the median with at most kIntervalTail, that
// is, so that fewer than k of n fair coins show heads. 0 where even the smallest does so too often.
std::size_t interval_rank(std::size_t n) {
  boost::math::binomial_distribution<double> below_median(static_cast<double>(n), 0.5);
  std::size_t k = 0;
  while (boost::math::cdf(below_median, static_cast<double>(k)) <= kIntervalTail) ++k;
  return k;
}

}

std::optional<double> median(std::span<const double> samples) {
  return middle(ranked(samples));
}

Estimate median_interval(std::span<const double> samples) {
  std::vector<double> sorted = ranked(samples);
  Estimate estimate{.median = middle(sorted), .n = static_cast<std::uint32_t>(samples.size())};
  if (sorted.size() < kFewestSamplesForInterval) return estimate;
  std::size_t k = interval_rank(sorted.size());
  estimate.low = sorted[k - 1];
  estimate.high = sorted[sorted.size() - k];
  return estimate;
}

std::optional<MeanError> mean_error_999(std::span<const double> samples) {
  if (samples.empty() || ranked(samples).empty()) return std::nullopt;
  double mean = 0, squares = 0, n = 0;  // Welford
  for (double x : samples) {
    const double off = x - mean;
    mean += off / ++n;
    squares += off * (x - mean);
  }
  MeanError found{.mean = mean};
  if (n < 2) return found;
  boost::math::students_t_distribution<double> student(n - 1);
  found.error = boost::math::quantile(student, 0.9995) * std::sqrt(squares / (n - 1) / n);
  return found;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });

  std::vector<double> adjusted(p.size());
  double largest_so_far = 0;
  std::size_t still_open = p.size();
  for (std::size_t i : order) {
    largest_so_far = std::max(largest_so_far, std::min(1.0, static_cast<double>(still_open--) * p[i]));
    adjusted[i] = largest_so_far;
  }
  return adjusted;
}

}
