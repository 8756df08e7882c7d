// The Mann-Whitney test and the interval that inverts it. U counts the pairs in which the sample of one
// side is the larger; the test and the interval ask how small a U is still to be expected when both sides
// are alike.

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>

#include "analysis/statistics.h"

namespace iotrace {

namespace {

using Ways = unsigned __int128;

bool counts_exactly(std::size_t m, std::size_t n) {
  return m <= kMostSamplesForExactTest && n <= kMostSamplesForExactTest;
}

// In how many of the C(m + n, m) orders of two untied samples U is at most u, for u = 0 .. m n. The ways to
// reach each u are the coefficients of the Gaussian binomial, the product over i = 1 .. m of
// (1 - x^(n + i)) / (1 - x^i). Computed modulo 2^128 it is exact, as no result exceeds C(100, 50) < 2^97.
std::vector<Ways> ways_up_to(std::size_t m, std::size_t n) {
  std::vector<Ways> ways(m * n + 1, 0);
  ways[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t u = ways.size(); u-- > n + i;) ways[u] -= ways[u - (n + i)];
    for (std::size_t u = i; u < ways.size(); ++u) ways[u] += ways[u - i];
  }
  for (std::size_t u = 1; u < ways.size(); ++u) ways[u] += ways[u - 1];
  return ways;
}

double fraction(Ways part, Ways whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

struct Ranking {
  double u = 0;     // pairs in which a is the larger, a tied pair as one half
  double ties = 0;  // t^3 - t over the groups of t equal values, summed
};

Ranking rank(std::span<const double> a, std::span<const double> b) {
  struct Sample {
    double value;
    bool of_a;
  };
  std::vector<Sample> pooled;
  pooled.reserve(a.size() + b.size());
  for (double value : a) pooled.push_back({value, true});
  for (double value : b) pooled.push_back({value, false});
  std::ranges::sort(pooled, {}, &Sample::value);

  Ranking ranking;
  double b_below = 0;
  for (auto group = pooled.begin(); group != pooled.end();) {
    auto end = std::find_if(group, pooled.end(), [&](const Sample& s) { return s.value != group->value; });
    double size = static_cast<double>(end - group);
    double of_a = static_cast<double>(std::count_if(group, end, [](const Sample& s) { return s.of_a; }));
    double of_b = size - of_a;
    ranking.u += of_a * (b_below + of_b / 2);
    ranking.ties += size * size * size - size;
    b_below += of_b;
    group = end;
  }
  return ranking;
}

double exact_p(double u, std::size_t m, std::size_t n) {
  std::vector<Ways> ways = ways_up_to(m, n);
  std::size_t whole_u = static_cast<std::size_t>(u);
  std::size_t smaller = std::min(whole_u, m * n - whole_u);
  return std::min(1.0, 2 * fraction(ways[smaller], ways.back()));
}

double approximate_p(const Ranking& ranking, std::size_t m, std::size_t n) {
  double pairs = static_cast<double>(m) * static_cast<double>(n);
  double total = static_cast<double>(m + n);
  double variance = pairs / 12 * (total + 1 - ranking.ties / (total * (total - 1)));
  double distance = std::abs(ranking.u - pairs / 2) - 0.5;  // continuity correction
  if (distance <= 0) return 1;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), distance / std::sqrt(variance)));
}

// Largest k so that P(U < k) <= kIntervalTail: the interval runs from the k-th smallest of the m n ratios
// to the k-th largest. Ties do not enter: with them the closed interval covers more, not less (Noether 1967).
//   m, n  at least kFewestSamplesForInterval, which makes k at least 1
std::size_t interval_rank(std::size_t m, std::size_t n) {
  if (counts_exactly(m, n)) {
    std::vector<Ways> ways = ways_up_to(m, n);
    auto first_too_often =
        std::ranges::find_if(ways, [&](Ways up_to) { return fraction(up_to, ways.back()) > kIntervalTail; });
    return static_cast<std::size_t>(first_too_often - ways.begin());
  }
  double pairs = static_cast<double>(m) * static_cast<double>(n);
  double sigma = std::sqrt(pairs * static_cast<double>(m + n + 1) / 12);
  double quantile = boost::math::quantile(boost::math::normal(), kIntervalTail);
  return static_cast<std::size_t>(std::floor(pairs / 2 + 0.5 + quantile * sigma));
}

bool all_finite(std::span<const double> samples) {
  return std::ranges::all_of(samples, [](double x) { return std::isfinite(x); });
}

bool all_positive(std::span<const double> samples) {
  return std::ranges::all_of(samples, [](double x) { return std::isfinite(x) && x > 0; });
}

}

std::optional<double> mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || !all_finite(a) || !all_finite(b)) return std::nullopt;
  Ranking ranking = rank(a, b);
  bool exact = ranking.ties == 0 && counts_exactly(a.size(), b.size());
  return exact ? exact_p(ranking.u, a.size(), b.size()) : approximate_p(ranking, a.size(), b.size());
}

Estimate ratio_interval(std::span<const double> a, std::span<const double> b) {
  std::size_t smaller = std::min(a.size(), b.size());
  Estimate estimate{.n = static_cast<std::uint32_t>(smaller)};
  if (smaller == 0 || !all_positive(a) || !all_positive(b)) return estimate;

  std::vector<double> ratios;
  ratios.reserve(a.size() * b.size());
  for (double denominator : a)
    for (double numerator : b) ratios.push_back(numerator / denominator);
  std::ranges::sort(ratios);

  double below = ratios[(ratios.size() - 1) / 2];
  double above = ratios[ratios.size() / 2];
  estimate.median = below * std::sqrt(above / below);  // their geometric mean; exact where they are equal
  if (smaller < kFewestSamplesForInterval) return estimate;
  std::size_t k = interval_rank(a.size(), b.size());
  estimate.low = ratios[k - 1];
  estimate.high = ratios[ratios.size() - k];
  return estimate;
}

}
