// One pass in order, the file split among the threads: thread t owns the t-th part. Parts are whole numbers
// of reads and differ by at most one read, so together they cover each read once. A rest of the file that is
// shorter than a read is left out. With more threads than reads some parts are empty: next() is 0 at once.

#include <algorithm>

#include "userspace/patterns/pattern.h"

namespace iotrace {

namespace {

class SequentialStream final : public OffsetStream {
public:
  explicit SequentialStream(const PatternShape& shape) : stride_(stride(shape)) {
    const std::uint64_t reads = (shape.file_size_bytes - shape.read_size_bytes) / stride_ + 1;
    const std::uint64_t each = reads / shape.threads;
    const std::uint64_t with_one_more = reads % shape.threads;  // so many threads, from the first on
    const std::uint64_t thread = shape.thread;
    first_ = thread * each + std::min(thread, with_one_more);
    end_ = first_ + each + (thread < with_one_more ? 1 : 0);
    at_ = first_;
  }

  std::uint32_t next(std::span<std::uint64_t> offsets) override {
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(offsets.size(), end_ - at_));
    for (std::uint64_t& offset : offsets.first(count)) offset = at_++ * stride_;
    return count;
  }

  void rewind() override { at_ = first_; }

private:
  // From one read to the next: the read size, and where that is no multiple of align_bytes the next one.
  static std::uint64_t stride(const PatternShape& shape) {
    return (shape.read_size_bytes + shape.align_bytes - 1) / shape.align_bytes * shape.align_bytes;
  }

  const std::uint64_t stride_;
  std::uint64_t first_ = 0;  // in reads, as end_ and at_
  std::uint64_t end_ = 0;
  std::uint64_t at_ = 0;
};

}

Pattern sequential_pattern() {
  return {.name = "sequential",
          .summary = "one pass in order; thread t reads the t-th part of the file",
          .finite = true,
          .make_stream = [](const PatternShape& shape) -> std::unique_ptr<OffsetStream> {
            return std::make_unique<SequentialStream>(shape);
          }};
}

}
