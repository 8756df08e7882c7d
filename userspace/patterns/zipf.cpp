// A few blocks take most of the reads: the block of rank k is read with probability proportional to
// 1 / k^theta, 0 < theta < 1, as in YCSB. A block is an item, always read whole and from the same offset, and
// ranks are scattered over the file, so that a popular block has no popular neighbours.
//
// Sampling is exact, by rejection: ranks are put into buckets of nearly equal weight per rank, a bucket is
// drawn by its weight as if every rank in it weighed as much as its first, a rank in it is drawn uniformly,
// and kept with probability (first / rank)^theta. Gray et al. 1994, whom YCSB follows, approximate instead.

#include <algorithm>
#include <numeric>
#include <vector>

#include "userspace/patterns/fixed_power.h"
#include "userspace/patterns/random_bits.h"

namespace iotrace {

namespace {

using Wide = unsigned __int128;

// A bucket's ranks differ by less than 1/32, so at least 32/33 of the draws are kept whatever theta is, and a
// file of 2^40 blocks needs about 1200 buckets.
constexpr std::uint64_t kBucketsPerDoubling = 32;
constexpr std::uint64_t kAlwaysKeptBelow = UINT64_MAX / (kBucketsPerDoubling + 1) * kBucketsPerDoubling;

// Ranks 1 .. count.
class ZipfRanks {
public:
  ZipfRanks(std::uint64_t count, double theta) : theta_(static_cast<std::uint64_t>(theta * 0x1p48)) {
    std::vector<Wide> sums;
    Wide sum = 0;
    for (std::uint64_t first = 1; first <= count;) {
      const std::uint64_t width = std::min(
          std::max<std::uint64_t>(1, std::bit_floor(first) / kBucketsPerDoubling), count - first + 1);
      const std::uint64_t log = fixed_log2(first);
      sum += Wide{fixed_exp2_of_minus(times_theta(log))} * width;
      sums.push_back(sum);
      buckets_.push_back({first, width, log});
      first += width;
    }
    unsigned shift = 0;
    while (sum >> shift >> 63) ++shift;
    for (Wide each : sums) upper_.push_back(static_cast<std::uint64_t>(each >> shift));
  }

  std::uint64_t draw(std::mt19937_64& random) const {
    for (;;) {
      const auto above = std::ranges::upper_bound(upper_, reduce(random(), upper_.back()));
      const Bucket& bucket = buckets_[static_cast<std::size_t>(above - upper_.begin())];
      if (bucket.width == 1) return bucket.first;
      const std::uint64_t rank = bucket.first + reduce(random(), bucket.width);
      const std::uint64_t chance = random();
      if (chance < kAlwaysKeptBelow) return rank;
      if (chance < fixed_exp2_of_minus(times_theta(fixed_log2(rank) - bucket.log_first))) return rank;
    }
  }

private:
  struct Bucket {
    std::uint64_t first, width;
    std::uint64_t log_first;
  };

  std::uint64_t times_theta(std::uint64_t log) const {
    return static_cast<std::uint64_t>(Wide{log} * theta_ >> 48);
  }

  const std::uint64_t theta_;  // 48 bits behind the point
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> upper_;  // [buckets] sum of the weights up to and including each
};

// A step through all blocks that comes by each once: the largest number without a common factor up to the
// golden section, which keeps blocks of near ranks as far apart as can be.
std::uint64_t scattering_step(std::uint64_t blocks) {
  auto step = static_cast<std::uint64_t>(Wide{blocks} * 0x9e3779b97f4a7c15u >> 64);
  while (std::gcd(step, blocks) != 1) --step;
  return step;
}

class ZipfStream final : public OffsetStream {
public:
  explicit ZipfStream(const PatternShape& shape)
      : block_bytes_((shape.read_size_bytes + shape.align_bytes - 1) / shape.align_bytes * shape.align_bytes),
        blocks_((shape.file_size_bytes - shape.read_size_bytes) / block_bytes_ + 1),
        step_(scattering_step(blocks_)), ranks_(blocks_, shape.zipf_theta), random_(random_bits(shape)) {}

  std::uint32_t next(std::span<std::uint64_t> offsets) override {
    for (std::uint64_t& offset : offsets)
      offset = static_cast<std::uint64_t>(Wide{ranks_.draw(random_)} * step_ % blocks_) * block_bytes_;
    return static_cast<std::uint32_t>(offsets.size());
  }

private:
  const std::uint64_t
      block_bytes_;  // the read size, and where that is no multiple of align_bytes the next one
  const std::uint64_t blocks_;
  const std::uint64_t step_;
  const ZipfRanks ranks_;
  std::mt19937_64 random_;
};

}

Pattern zipf_pattern() {
  return {.name = "zipf",
          .summary = "blocks by popularity: the k-th most popular in proportion to 1/k^theta (--zipf-theta)",
          .make_stream = [](const PatternShape& shape) -> std::unique_ptr<OffsetStream> {
            return std::make_unique<ZipfStream>(shape);
          }};
}

}
