// A hot part at the start of the file and the cold rest: each read goes to the rest with probability
// cold_pct, independently of the others, and is uniform in its part. Cold reads begin in the rest, hot ones
// lie in the hot part as a whole, so that no hot read touches a cold page but for the one on the border.

#include <algorithm>

#include "userspace/patterns/random_bits.h"

namespace iotrace {

namespace {

// Multiples of align_bytes from the first on.
struct Part {
  std::uint64_t first = 0;
  std::uint64_t choices = 1;
};

Part hot_part(const PatternShape& shape) {
  // One place at least, should a whole read not fit in.
  if (shape.hot_size_bytes < shape.read_size_bytes) return {};
  const std::uint64_t last = std::min(shape.hot_size_bytes, shape.file_size_bytes) - shape.read_size_bytes;
  return {0, last / shape.align_bytes + 1};
}

Part cold_part(const PatternShape& shape) {
  const std::uint64_t first =
      (shape.hot_size_bytes + shape.align_bytes - 1) / shape.align_bytes * shape.align_bytes;
  const std::uint64_t last = shape.file_size_bytes - shape.read_size_bytes;
  if (first > last) return hot_part(shape);  // no room for a read outside
  return {first, (last - first) / shape.align_bytes + 1};
}

class HotColdStream final : public OffsetStream {
public:
  explicit HotColdStream(const PatternShape& shape)
      : align_(shape.align_bytes), hot_(hot_part(shape)), cold_(cold_part(shape)),
        always_cold_(shape.cold_pct >= 100),
        cold_below_(always_cold_ ? 0 : static_cast<std::uint64_t>(shape.cold_pct / 100 * 0x1p64)),
        random_(random_bits(shape)) {}

  std::uint32_t next(std::span<std::uint64_t> offsets) override {
    for (std::uint64_t& offset : offsets) {
      const Part& part = random_() < cold_below_ || always_cold_ ? cold_ : hot_;
      offset = part.first + reduce(random_(), part.choices) * align_;
    }
    return static_cast<std::uint32_t>(offsets.size());
  }

private:
  const std::uint64_t align_;
  const Part hot_, cold_;
  const bool always_cold_;
  const std::uint64_t cold_below_;  // of 2^64
  std::mt19937_64 random_;
};

}

Pattern hot_cold_pattern() {
  return {.name = "hot-cold",
          .summary = "--cold-pct of the reads go to the file beyond the first --hot-size, the others into it",
          .make_stream = [](const PatternShape& shape) -> std::unique_ptr<OffsetStream> {
            return std::make_unique<HotColdStream>(shape);
          }};
}

}
