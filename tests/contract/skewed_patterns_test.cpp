// Patterns that favour some of the file: in which shares, and where.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "userspace/patterns/pattern.h"

namespace iotrace {
namespace {

std::vector<std::uint64_t> take(std::string_view pattern, const PatternShape& shape, std::size_t count) {
  std::vector<std::uint64_t> offsets(count);
  CHECK(find_pattern(pattern)->make_stream(shape)->next(offsets) == count);
  return offsets;
}

// Six standard deviations of a count of `draws` with probability `p`: once in 500 million seeds.
double six_sigma(double draws, double p) {
  return 6 * std::sqrt(draws * p * (1 - p));
}

TEST_CASE("hot-cold: the shares are those asked for, each part is uniform") {
  constexpr std::size_t kDraws = 400'000;
  PatternShape shape = {
      .file_size_bytes = 1'000'000, .read_size_bytes = 1000, .seed = 5, .hot_size_bytes = 100'000};
  for (double pct : {0.0, 10.0, 50.0, 90.0, 100.0}) {
    CAPTURE(pct);
    shape.cold_pct = pct;
    const auto offsets = take("hot-cold", shape, kDraws);
    double cold = 0, upper_half_cold = 0, upper_half_hot = 0;
    for (std::uint64_t offset : offsets) {
      const bool is_cold = offset >= 100'000;
      if (!is_cold && offset > 99'000) FAIL("a hot read runs into the cold part");
      cold += is_cold;
      upper_half_cold += offset >= 100'000 + 449'500;
      upper_half_hot += !is_cold && offset >= 49'500;
    }
    CHECK(std::abs(cold - kDraws * pct / 100) <= six_sigma(kDraws, pct / 100));
    // 0 and 100 are exact.
    CHECK(std::abs(upper_half_cold - cold / 2) <= six_sigma(cold, 0.5) + 1);
    CHECK(std::abs(upper_half_hot - (kDraws - cold) / 2) <= six_sigma(kDraws - cold, 0.5) + 1);
  }
}

TEST_CASE("hot-cold: both ends of both parts are reached") {
  const PatternShape shape = {
      .file_size_bytes = 64, .read_size_bytes = 8, .align_bytes = 8, .hot_size_bytes = 16, .cold_pct = 50};
  const auto offsets = take("hot-cold", shape, 1000);
  CHECK(std::set(offsets.begin(), offsets.end()) == std::set<std::uint64_t>{0, 8, 16, 24, 32, 40, 48, 56});
}

// Reads of 1 byte with align 1: offset = block.
std::map<std::uint64_t, double> zipf_counts(std::uint64_t blocks, double theta, std::size_t draws) {
  std::map<std::uint64_t, double> counts;
  const PatternShape shape = {
      .file_size_bytes = blocks, .read_size_bytes = 1, .seed = 9, .zipf_theta = theta};
  for (std::uint64_t offset : take("zipf", shape, draws)) ++counts[offset];
  return counts;
}

TEST_CASE("zipf: the k-th most popular block is read in proportion to 1/k^theta") {
  constexpr std::size_t kDraws = 1'000'000;
  for (double theta : {0.01, 0.5, 0.99})
    for (std::uint64_t blocks : {1u, 2u, 10u, 1000u, 5000u}) {
      CAPTURE(theta, blocks);
      const auto by_offset = zipf_counts(blocks, theta, kDraws);
      // Where rank k lies, by the rule that the pattern states: multiples of a step.
      std::uint64_t step = std::uint64_t(double(blocks) * 0.6180339887498949);
      while (std::gcd(step, blocks) != 1) --step;
      double sum = 0;
      for (std::uint64_t k = 1; k <= blocks; ++k) sum += std::pow(k, -theta);
      double in_first_tenth = 0, expected_in_first_tenth = 0;
      for (std::uint64_t k = 1; k <= blocks; ++k) {
        const double p = std::pow(k, -theta) / sum;
        const auto found = by_offset.find(k * step % blocks);
        const double count = found == by_offset.end() ? 0 : found->second;
        if (std::abs(count - kDraws * p) > six_sigma(kDraws, p) + 1)
          FAIL("rank " << k << ": " << count << " for " << kDraws * p);
        if (k <= blocks / 10) in_first_tenth += count, expected_in_first_tenth += p;
      }
      CHECK(std::abs(in_first_tenth - kDraws * expected_in_first_tenth) <=
            six_sigma(kDraws, expected_in_first_tenth) + 1);
    }
}

TEST_CASE("zipf: near ranks are far apart in the file") {
  constexpr std::uint64_t kBlocks = 1 << 20;
  const auto counts = zipf_counts(kBlocks, 0.99, 1'000'000);
  std::vector<std::pair<double, std::uint64_t>> popular;
  for (const auto& [offset, count] : counts) popular.emplace_back(count, offset);
  std::ranges::sort(popular, std::greater{});
  std::vector<std::uint64_t> hottest;
  for (std::size_t i = 0; i < 50; ++i) hottest.push_back(popular[i].second);
  std::ranges::sort(hottest);
  // 50 blocks evenly spread would lie 1/50 apart.
  for (std::size_t i = 1; i < hottest.size(); ++i) CHECK(hottest[i] - hottest[i - 1] > kBlocks / 400);
}

TEST_CASE("zipf: blocks are whole reads, the largest file has its table") {
  const PatternShape shape = {.file_size_bytes = std::uint64_t{1} << 50,
                              .read_size_bytes = 1000,
                              .align_bytes = 512,
                              .zipf_theta = 0.99};
  for (std::uint64_t offset : take("zipf", shape, 1000)) CHECK(offset % 1024 == 0);
}

TEST_CASE("patterns: a seed gives these skewed offsets on every machine") {
  const PatternShape shape = {.file_size_bytes = 10'000'019,
                              .read_size_bytes = 4096,
                              .seed = 0x1234567890,
                              .round = 3,
                              .thread = 1,
                              .threads = 4,
                              .hot_size_bytes = 1'000'000,
                              .cold_pct = 50,
                              .zipf_theta = 0.99};
  CHECK(take("hot-cold", shape, 5) == std::vector<std::uint64_t>{463299, 957280, 8727404, 704244, 796358});
  CHECK(take("zipf", shape, 5) == std::vector<std::uint64_t>{4452352, 8519680, 356352, 7069696, 2355200});
}

TEST_CASE("strided: thread t begins at the t-th part and goes around the end") {
  PatternShape shape = {
      .file_size_bytes = 1000, .read_size_bytes = 101, .align_bytes = 100, .threads = 3, .stride_bytes = 400};
  // A read fits at 0, 100, … 800: nine places.
  CHECK(take("strided", shape, 10) ==
        std::vector<std::uint64_t>{0, 400, 800, 300, 700, 200, 600, 100, 500, 0});
  shape.thread = 1;
  CHECK(take("strided", shape, 3) == std::vector<std::uint64_t>{300, 700, 200});
  shape.thread = 2;
  shape.stride_bytes = 399;  // rounded up to the alignment
  CHECK(take("strided", shape, 3) == std::vector<std::uint64_t>{600, 100, 500});
}

}
}
