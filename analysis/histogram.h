#pragma once
// A log-linear histogram of unsigned integers, as HdrHistogram and fio's json+ have it: every octave
// [2^e, 2^(e+1)) is cut into 2^sub_bits bins of equal width, and values below 2^sub_bits have a bin each.
//
// A bin in octave e is 2^(e - sub_bits) wide, so what is read from its upper edge is too high by less
// than 1 / 2^sub_bits of the value: 0.8 % for the worker's operations (7 bits), 12.5 % for the histograms
// that the probes keep in the kernel (3 bits: 496 bins, in an array of 512).

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/result.h"

namespace iotrace {

inline constexpr unsigned kOpSubBits = 7;      // the worker's latency per op
inline constexpr unsigned kKernelSubBits = 3;  // bpf/histogram.bpf.h keeps the same layout
inline constexpr unsigned kFileSubBits = 2;    // of each file that attach follows, bpf/files.bpf.h

// Bins needed for any 64-bit value: one for each value below 2^sub_bits, then 2^sub_bits per octave.
constexpr unsigned histogram_bins(unsigned sub_bits) {
  return (64u - sub_bits + 1u) << sub_bits;
}

constexpr unsigned histogram_bin(std::uint64_t value, unsigned sub_bits) {
  if (value < (1ull << sub_bits)) return static_cast<unsigned>(value);
  unsigned octave = 63u - static_cast<unsigned>(__builtin_clzll(value));
  unsigned shift = octave - sub_bits;
  return ((shift + 1u) << sub_bits) + static_cast<unsigned>((value >> shift) & ((1ull << sub_bits) - 1u));
}

// Smallest and largest value of a bin.
constexpr std::uint64_t histogram_bin_low(unsigned bin, unsigned sub_bits) {
  unsigned group = bin >> sub_bits;
  std::uint64_t sub = bin & ((1u << sub_bits) - 1u);
  return group == 0 ? sub : (((1ull << sub_bits) + sub) << (group - 1u));
}
constexpr std::uint64_t histogram_bin_high(unsigned bin, unsigned sub_bits) {
  unsigned group = bin >> sub_bits;
  return histogram_bin_low(bin, sub_bits) + (group == 0 ? 0 : (1ull << (group - 1u)) - 1u);
}

class Histogram {
public:
  explicit Histogram(unsigned sub_bits = kKernelSubBits) : sub_bits_(sub_bits) {}

  void add(std::uint64_t value, std::uint64_t count = 1);
  // Adds the counts of a dense array of bins in this layout, as kept by the worker and in the kernel, with
  // the exact sum and extremes kept beside it. `min` and `max` are ignored when all counts are 0.
  //   counts  [any length] those past histogram_bins(sub_bits) are 0
  void add_bins(std::span<const std::uint64_t> counts, std::uint64_t sum, std::uint64_t min,
                std::uint64_t max);
  // errors   failed: the other's sub_bits differ
  Status merge(const Histogram& other);

  unsigned sub_bits() const { return sub_bits_; }
  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  // All of these are nullopt for an empty histogram.
  std::optional<std::uint64_t> min() const;
  std::optional<std::uint64_t> max() const;
  std::optional<double> mean() const;
  // Sample standard deviation from bin midpoints, by Welford's method; nullopt below two samples.
  std::optional<double> stddev() const;
  // Smallest recorded value that at least a fraction `q` of the samples do not exceed, as its bin's upper
  // edge, never above max().
  //   q       in [0, 1], else nullopt
  //   source  Hyndman & Fan 1996, definition 1
  std::optional<std::uint64_t> percentile(double q) const;

  // bin number -> count, only bins that hold something, ascending
  const std::map<unsigned, std::uint64_t>& bins() const { return bins_; }

  bool operator==(const Histogram&) const = default;

private:
  unsigned sub_bits_;
  std::map<unsigned, std::uint64_t> bins_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

}
