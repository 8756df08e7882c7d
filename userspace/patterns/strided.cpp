// From one read to the next a fixed step, around the end of the file to its start: a column of a table, or a
// walk over records. Thread t begins at the t-th part. Where the step divides the places that a read may
// begin at, the same offsets come again after one round.

#include "userspace/patterns/pattern.h"

namespace iotrace {

namespace {

class StridedStream final : public OffsetStream {
public:
  explicit StridedStream(const PatternShape& shape)
      : align_(shape.align_bytes),
        places_((shape.file_size_bytes - shape.read_size_bytes) / shape.align_bytes + 1),
        step_((shape.stride_bytes + shape.align_bytes - 1) / shape.align_bytes % places_),
        at_(static_cast<std::uint64_t>(static_cast<unsigned __int128>(places_) * shape.thread /
                                       shape.threads)) {}

  std::uint32_t next(std::span<std::uint64_t> offsets) override {
    for (std::uint64_t& offset : offsets) {
      offset = at_ * align_;
      at_ += step_;
      if (at_ >= places_) at_ -= places_;
    }
    return static_cast<std::uint32_t>(offsets.size());
  }

private:
  const std::uint64_t align_;
  const std::uint64_t places_;  // multiples of align_bytes at which a whole read fits; as step_ and at_
  const std::uint64_t step_;
  std::uint64_t at_;
};

}

Pattern strided_pattern() {
  return {.name = "strided",
          .summary =
              "a fixed step from read to read (--stride), around the end; thread t begins at the t-th part",
          .make_stream = [](const PatternShape& shape) -> std::unique_ptr<OffsetStream> {
            return std::make_unique<StridedStream>(shape);
          }};
}

}
