// Uniform with replacement over the multiples of align_bytes at which a whole read fits.

#include "userspace/patterns/random_bits.h"

namespace iotrace {

namespace {

class RandomStream final : public OffsetStream {
public:
  explicit RandomStream(const PatternShape& shape)
      : align_(shape.align_bytes),
        choices_((shape.file_size_bytes - shape.read_size_bytes) / shape.align_bytes + 1),
        random_(random_bits(shape)) {}

  std::uint32_t next(std::span<std::uint64_t> offsets) override {
    for (std::uint64_t& offset : offsets) offset = reduce(random_(), choices_) * align_;
    return static_cast<std::uint32_t>(offsets.size());
  }

private:
  const std::uint64_t align_;
  const std::uint64_t choices_;
  std::mt19937_64 random_;
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
