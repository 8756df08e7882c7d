#include "analysis/histogram.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include <fmt/format.h>

namespace iotrace {

namespace {

double midpoint(unsigned bin, unsigned sub_bits) {
  std::uint64_t low = histogram_bin_low(bin, sub_bits);
  std::uint64_t high = histogram_bin_high(bin, sub_bits);
  return static_cast<double>(low) + static_cast<double>(high - low) / 2;
}

// How many of `count` samples make up at least a fraction `q`. A decimal q is off by up to half a unit in
// its last place, and 0.07 * 100 is 7.000000000000001: rounded up as it stands it would ask for 8 samples.
std::uint64_t rank_of(double q, std::uint64_t count) {
  double exact = q * static_cast<double>(count);
  return static_cast<std::uint64_t>(std::ceil(exact - 2 * DBL_EPSILON * exact));
}

}

void Histogram::add(std::uint64_t value, std::uint64_t count) {
  if (count == 0) return;
  bins_[histogram_bin(value, sub_bits_)] += count;
  count_ += count;
  sum_ += value * count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::add_bins(std::span<const std::uint64_t> counts, std::uint64_t sum, std::uint64_t min,
                         std::uint64_t max) {
  std::uint64_t added = 0;
  for (unsigned bin = 0; bin < counts.size(); ++bin) {
    if (counts[bin] == 0) continue;
    bins_[bin] += counts[bin];
    added += counts[bin];
  }
  if (added == 0) return;
  count_ += added;
  sum_ += sum;
  min_ = std::min(min_, min);
  max_ = std::max(max_, max);
}

Status Histogram::merge(const Histogram& other) {
  if (sub_bits_ != other.sub_bits_)
    return Error{fmt::format("merge histograms: the bins differ, 2^{} an octave here and 2^{} there",
                             sub_bits_, other.sub_bits_)};
  for (auto [bin, count] : other.bins_) bins_[bin] += count;
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  return {};
}

std::optional<std::uint64_t> Histogram::min() const {
  if (count_ == 0) return std::nullopt;
  return min_;
}

std::optional<std::uint64_t> Histogram::max() const {
  if (count_ == 0) return std::nullopt;
  return max_;
}

std::optional<double> Histogram::mean() const {
  if (count_ == 0) return std::nullopt;
  return static_cast<double>(sum_) / static_cast<double>(count_);
}

std::optional<double> Histogram::stddev() const {
  if (count_ < 2) return std::nullopt;
  double seen = 0;
  double mean = 0;
  double squares = 0;  // sum of squared distances from the mean of what was seen so far
  for (auto [bin, count] : bins_) {
    double weight = static_cast<double>(count);
    seen += weight;
    double distance = midpoint(bin, sub_bits_) - mean;
    double step = distance * (weight / seen);
    mean += step;
    squares += weight * distance * (distance - step);
  }
  return std::sqrt(squares / static_cast<double>(count_ - 1));
}

std::optional<std::uint64_t> Histogram::percentile(double q) const {
  if (count_ == 0 || !(q >= 0 && q <= 1)) return std::nullopt;
  std::uint64_t missing = rank_of(q, count_);
  for (auto [bin, count] : bins_) {
    if (missing <= count) return std::min(histogram_bin_high(bin, sub_bits_), max_);
    missing -= count;
  }
  return max_;
}

}
