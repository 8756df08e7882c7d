// Hint first, then copy: madvise(MADV_WILLNEED) on each range of the batch, so that the device works on all
// of them at once, then the copies in the same order.

#include "userspace/strategies/mapped_copy.h"

namespace iotrace {

namespace {

struct AlignedHint {
  static Status give(const SourceFile& file, std::uint64_t offset, std::uint64_t size) {
    return advise_pages(file, offset, size, MADV_WILLNEED, "MADV_WILLNEED");
  }
};

// The specimen: the raw offset goes to madvise(2), which refuses each start inside a page with EINVAL, and
// nobody looks at the result. So it was written in the field; ignoring the error is the bug on show.
struct MisalignedHint {
  static Status give(const SourceFile& file, std::uint64_t offset, std::uint64_t size) {
    ::madvise(file.mapping + offset, size, MADV_WILLNEED);
    return {};
  }
};

template<typename Hint> class WillneedReader final : public Reader {
public:
  WillneedReader(const SourceFile& file, const ReadShape& shape, MappedCopy copy)
      : file_(file), shape_(shape), copy_(std::move(copy)) {}

  Status announce(std::span<const std::uint64_t> offsets) override {
    for (std::uint64_t offset : offsets)
      if (Status hinted = Hint::give(file_, offset, shape_.read_size_bytes); !hinted) return hinted;
    return {};
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    copy_.copy(offsets, sink);
    return {};
  }

private:
  const SourceFile file_;
  const ReadShape shape_;
  MappedCopy copy_;
};

template<int advice, typename Hint>
Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  // A fresh mapping is NORMAL already.
  if (advice != MADV_NORMAL)
    if (Status advised = advise_mapping(file, advice); !advised) return advised.error();

  return MakeReader([file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto copy = MappedCopy::make(file, shape);
    if (!copy) return copy.error();
    return std::unique_ptr<Reader>(new WillneedReader<Hint>(file, shape, std::move(*copy)));
  });
}

}

Strategy mmap_willneed_strategy() {
  return {.name = "mmap-willneed",
          .summary = "MADV_WILLNEED on each range of the batch, then copy; MADV_NORMAL",
          .maps_file = true,
          .hints = true,
          .differs_from = "mmap",
          .prepare = prepare<MADV_NORMAL, AlignedHint>};
}

Strategy mmap_random_willneed_strategy() {
  return {.name = "mmap-random-willneed",
          .summary = "MADV_WILLNEED on each range of the batch, then copy; MADV_RANDOM",
          .maps_file = true,
          .hints = true,
          .differs_from = "mmap-random",
          .prepare = prepare<MADV_RANDOM, AlignedHint>};
}

Strategy mmap_willneed_misaligned_strategy() {
  return {.name = "mmap-willneed-misaligned",
          .summary = "specimen: mmap-willneed without rounding the start down to the page",
          .maps_file = true,
          .hints = true,
          .specimen = true,
          .differs_from = "mmap",
          .prepare = prepare<MADV_NORMAL, MisalignedHint>};
}

Strategy mmap_random_willneed_misaligned_strategy() {
  return {.name = "mmap-random-willneed-misaligned",
          .summary = "specimen: mmap-random-willneed without rounding the start down to the page",
          .maps_file = true,
          .hints = true,
          .specimen = true,
          .differs_from = "mmap-random",
          .prepare = prepare<MADV_RANDOM, MisalignedHint>};
}

}
