#include "analysis/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

using namespace iotrace;

namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

// Every power of two with its neighbours, and random values of every magnitude.
std::vector<std::uint64_t> many_values() {
  std::vector<std::uint64_t> values = {0, kLargest};
  std::mt19937_64 random(42);
  for (unsigned bit = 0; bit < 64; ++bit) {
    std::uint64_t power = 1ull << bit;
    values.insert(values.end(), {power - 1, power, power + 1});
    for (int i = 0; i < 100; ++i) values.push_back(random() >> bit);
  }
  std::ranges::sort(values);
  return values;
}

Histogram histogram_of(std::initializer_list<std::uint64_t> values, unsigned sub_bits = kKernelSubBits) {
  Histogram histogram(sub_bits);
  for (std::uint64_t value : values) histogram.add(value);
  return histogram;
}

}

TEST_CASE("the layout with 3 bits is the one that the kernel programs count in", "[histogram]") {
  CHECK(histogram_bins(3) == 496);
  CHECK(histogram_bin(0, 3) == 0);
  CHECK(histogram_bin(7, 3) == 7);
  CHECK(histogram_bin(8, 3) == 8);
  CHECK(histogram_bin(15, 3) == 15);  // [8, 16) still has a bin for each value
  CHECK(histogram_bin(16, 3) == 16);
  CHECK(histogram_bin(17, 3) == 16);  // [16, 32) has bins of 2
  CHECK(histogram_bin(18, 3) == 17);
  CHECK(histogram_bin(1000, 3) == 63);  // [512, 1024) has bins of 64: 512 + 7 * 64 = 960
  CHECK(histogram_bin_low(63, 3) == 960);
  CHECK(histogram_bin_high(63, 3) == 1023);
  CHECK(histogram_bin(kLargest, 3) == 495);
}

TEST_CASE("a value lies within its bin, and the bin's width within the promised error", "[histogram]") {
  unsigned sub_bits = GENERATE(kOpSubBits, kKernelSubBits);
  for (std::uint64_t value : many_values()) {
    unsigned bin = histogram_bin(value, sub_bits);
    std::uint64_t low = histogram_bin_low(bin, sub_bits);
    std::uint64_t high = histogram_bin_high(bin, sub_bits);
    CAPTURE(sub_bits, value, bin);
    REQUIRE(bin < histogram_bins(sub_bits));
    REQUIRE(low <= value);
    REQUIRE(value <= high);
    REQUIRE(high - low <= (low >> sub_bits));
  }
}

TEST_CASE("bins follow each other without gap or overlap", "[histogram]") {
  unsigned sub_bits = GENERATE(kOpSubBits, kKernelSubBits);
  unsigned bins = histogram_bins(sub_bits);
  CHECK(histogram_bin_low(0, sub_bits) == 0);
  for (unsigned bin = 1; bin < bins; ++bin)
    REQUIRE(histogram_bin_low(bin, sub_bits) == histogram_bin_high(bin - 1, sub_bits) + 1);
  CHECK(histogram_bin_high(bins - 1, sub_bits) == kLargest);
}

TEST_CASE("an empty histogram has no statistics", "[histogram]") {
  Histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.sum() == 0);
  CHECK(empty.min() == std::nullopt);
  CHECK(empty.max() == std::nullopt);
  CHECK(empty.mean() == std::nullopt);
  CHECK(empty.stddev() == std::nullopt);
  CHECK(empty.percentile(0.5) == std::nullopt);
}

TEST_CASE("adding a value 0 times leaves the histogram empty", "[histogram]") {
  Histogram histogram;
  histogram.add(5, 0);
  CHECK(histogram == Histogram());
}

TEST_CASE("every percentile of one sample is that sample", "[histogram]") {
  Histogram one = histogram_of({1'000'003});
  CHECK(one.min() == 1'000'003);
  CHECK(one.max() == 1'000'003);
  CHECK(one.mean() == 1'000'003);
  CHECK(one.stddev() == std::nullopt);
  for (double q : {0.0, 0.5, 0.99, 1.0}) CHECK(one.percentile(q) == 1'000'003);
}

TEST_CASE("a sample of 0 is a sample", "[histogram]") {
  Histogram zeros;
  zeros.add(0, 3);
  CHECK(zeros.count() == 3);
  CHECK(zeros.min() == 0);
  CHECK(zeros.max() == 0);
  CHECK(zeros.mean() == 0);
  CHECK(zeros.stddev() == 0);
  CHECK(zeros.percentile(0.5) == 0);
}

TEST_CASE("a percentile is the smallest sample that the fraction does not exceed", "[histogram]") {
  // Values below 2^7 have a bin each, so these are exact.
  Histogram histogram(kOpSubBits);
  for (std::uint64_t value = 1; value <= 10; ++value) histogram.add(value);
  CHECK(histogram.percentile(0) == 1);
  CHECK(histogram.percentile(0.1) == 1);
  CHECK(histogram.percentile(0.11) == 2);
  CHECK(histogram.percentile(0.5) == 5);
  CHECK(histogram.percentile(0.51) == 6);
  CHECK(histogram.percentile(0.9) == 9);
  CHECK(histogram.percentile(0.99) == 10);
  CHECK(histogram.percentile(1) == 10);
}

TEST_CASE("a decimal fraction that doubles cannot hold asks for no sample more", "[histogram]") {
  // In doubles 0.07 * 100 is 7.000000000000001.
  Histogram histogram(kOpSubBits);
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.add(value);
  for (std::uint64_t hundredth = 1; hundredth <= 100; ++hundredth)
    CHECK(histogram.percentile(static_cast<double>(hundredth) / 100) == hundredth);
  CHECK(histogram.percentile(0.07) == 7);
  CHECK(histogram.percentile(0.0701) == 8);
}

TEST_CASE("a fraction outside [0, 1] has no percentile", "[histogram]") {
  Histogram one = histogram_of({4});
  CHECK(one.percentile(-0.01) == std::nullopt);
  CHECK(one.percentile(1.01) == std::nullopt);
  CHECK(one.percentile(std::nan("")) == std::nullopt);
}

TEST_CASE("a percentile is a bin's upper edge, and never above the largest sample", "[histogram]") {
  Histogram histogram = histogram_of({960, 970, 2000});  // with 3 bits: [960, 1023] and [1920, 2047]
  CHECK(histogram.percentile(0.5) == 1023);
  CHECK(histogram.percentile(1) == 2000);
  CHECK(histogram_of({960, 970}).percentile(0.5) == 970);
}

TEST_CASE("percentiles rise with the fraction and overstate by less than the promised error", "[histogram]") {
  unsigned sub_bits = GENERATE(kOpSubBits, kKernelSubBits);
  std::vector<std::uint64_t> values = many_values();
  Histogram histogram(sub_bits);
  for (std::uint64_t value : values) histogram.add(value);

  std::uint64_t previous = 0;
  for (std::size_t rank = 1; rank <= values.size(); ++rank) {
    double q = static_cast<double>(rank) / static_cast<double>(values.size());
    std::uint64_t got = histogram.percentile(q).value();
    std::uint64_t truth = values[rank - 1];
    CAPTURE(sub_bits, rank, truth, got);
    REQUIRE(got >= previous);
    REQUIRE(got >= truth);
    REQUIRE(got - truth <= (truth >> sub_bits));
    previous = got;
  }
  CHECK(previous == kLargest);
}

TEST_CASE("the mean is exact, whatever the bins", "[histogram]") {
  CHECK(histogram_of({1'000'001, 1'000'002, 1'000'006}).mean() == 1'000'003);
}

TEST_CASE("the standard deviation is that of the sample where each value has its bin", "[histogram]") {
  CHECK(histogram_of({1, 2, 3}).stddev() == 1.0);
  // 2 4 4 4 5 5 7 9: mean 5, squared distances 9 1 1 1 0 0 4 16 = 32, over 7.
  CHECK(histogram_of({2, 4, 4, 4, 5, 5, 7, 9}).stddev().value() == Approx(std::sqrt(32.0 / 7)));
}

TEST_CASE("the standard deviation of far larger bins comes from their midpoints", "[histogram]") {
  // [960, 1023] and [1920, 2047] with 3 bits: midpoints 991.5 and 1983.5, 992 apart.
  CHECK(histogram_of({960, 2000}).stddev().value() == Approx(992 / std::sqrt(2.0)));
}

TEST_CASE("the standard deviation of samples in one bin is 0, however large they are", "[histogram]") {
  // E[x^2] - E[x]^2 leaves a rounding error here, of either sign.
  Histogram histogram(kOpSubBits);
  histogram.add(123'456'789'012'345'678, 1'000'003);
  CHECK(histogram.stddev() == 0);
}

TEST_CASE("the standard deviation keeps one stray sample beside a million million", "[histogram]") {
  // Two neighbouring bins 2^40 wide; with n samples in one and 1 in the other it is 2^40 / sqrt(n + 1).
  // E[x^2] - E[x]^2 has lost all but a digit or two of it.
  std::uint64_t low = 200ull << 40;
  Histogram histogram(kOpSubBits);
  histogram.add(low, 1'000'000'000'000);
  histogram.add(low + (1ull << 40));
  CHECK(histogram.stddev().value() == Approx(std::ldexp(1.0, 40) / 1e6).epsilon(1e-9));
}

TEST_CASE("merging is adding", "[histogram]") {
  unsigned sub_bits = GENERATE(kOpSubBits, kKernelSubBits);
  Histogram odd(sub_bits), even(sub_bits), all(sub_bits);
  bool is_odd = false;
  for (std::uint64_t value : many_values()) {
    (is_odd ? odd : even).add(value);
    all.add(value);
    is_odd = !is_odd;
  }
  REQUIRE(odd.merge(even));
  CHECK(odd == all);
}

TEST_CASE("merging with an empty histogram changes nothing, either way round", "[histogram]") {
  Histogram histogram = histogram_of({3, 300});
  REQUIRE(histogram.merge(Histogram()));
  CHECK(histogram == histogram_of({3, 300}));
  Histogram empty;
  REQUIRE(empty.merge(histogram));
  CHECK(empty == histogram);
}

TEST_CASE("a histogram merged with itself has every sample twice", "[histogram]") {
  Histogram histogram = histogram_of({3, 300});
  REQUIRE(histogram.merge(histogram));
  CHECK(histogram == histogram_of({3, 3, 300, 300}));
}

TEST_CASE("histograms with other bins do not merge, and say why", "[histogram]") {
  Histogram histogram = histogram_of({3}, 3);
  Status status = histogram.merge(histogram_of({3}, 7));
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "merge histograms: the bins differ, 2^3 an octave here and 2^7 there");
  CHECK(histogram == histogram_of({3}, 3));
}

TEST_CASE("bins counted elsewhere give the histogram that adding gives", "[histogram]") {
  unsigned sub_bits = GENERATE(kOpSubBits, kKernelSubBits);
  std::vector<std::uint64_t> counts(histogram_bins(sub_bits));
  std::uint64_t sum = 0;
  Histogram added(sub_bits);
  added.add(6);
  for (std::uint64_t value : {5u, 17u, 17u, 123'456u, 4'000'000'000u}) {
    added.add(value);
    ++counts[histogram_bin(value, sub_bits)];
    sum += value;
  }
  Histogram from_bins(sub_bits);
  from_bins.add(6);
  from_bins.add_bins(counts, sum, 5, 4'000'000'000);
  CHECK(from_bins == added);
}

TEST_CASE("bins without a count bring no extremes", "[histogram]") {
  std::vector<std::uint64_t> counts(512);  // the kernel's array is longer than the layout
  Histogram histogram = histogram_of({20});
  histogram.add_bins(counts, 0, 0, kLargest);
  CHECK(histogram == histogram_of({20}));
}

TEST_CASE("only bins that hold something are kept, in ascending order", "[histogram]") {
  Histogram histogram = histogram_of({1000, 5, 1001});
  std::map<unsigned, std::uint64_t> expected = {{5, 1}, {63, 2}};
  CHECK(histogram.bins() == expected);
}
