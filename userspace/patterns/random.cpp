// Uniform with replacement over the multiples of align_bytes at which a whole read fits.

#include <random>

#include "userspace/patterns/pattern.h"

namespace iotrace {

namespace {

// Generator and seeding are the standard's, bit for bit, and the reduction below is our own (the standard
// leaves uniform_int_distribution to the library): a seed gives the same offsets on every machine.
std::mt19937_64 generator(const PatternShape& shape) {
  std::seed_seq seed{static_cast<std::uint32_t>(shape.seed), static_cast<std::uint32_t>(shape.seed >> 32),
                     shape.round, shape.thread};
  return std::mt19937_64(seed);
}

// A number in [0, bound) from 64 random bits: the high half of the product.
//   source   Lemire 2019, "Fast Random Integer Generation in an Interval", without the rejection step; what
//            remains of bias is bound / 2^64
std::uint64_t reduce(std::uint64_t random, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(random) * bound) >> 64);
}

class RandomStream final : public OffsetStream {
public:
  explicit RandomStream(const PatternShape& shape)
      : align_(shape.align_bytes),
        choices_((shape.file_size_bytes - shape.read_size_bytes) / shape.align_bytes + 1),
        generator_(generator(shape)) {}

  std::uint32_t next(std::span<std::uint64_t> offsets) override {
    for (std::uint64_t& offset : offsets) offset = reduce(generator_(), choices_) * align_;
    return static_cast<std::uint32_t>(offsets.size());
  }

private:
  const std::uint64_t align_;
  const std::uint64_t choices_;
  std::mt19937_64 generator_;
};

}

Pattern random_pattern() {
  return {.name = "random",
          .summary = "uniform over the file, with replacement",
          .make_stream = [](const PatternShape& shape) -> std::unique_ptr<OffsetStream> {
            return std::make_unique<RandomStream>(shape);
          }};
}

}
