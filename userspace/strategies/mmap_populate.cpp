// Map the pages in advance: MADV_POPULATE_READ on each range of the batch, then the copies, which do not
// fault any more. Not a hint: each call waits until its pages are read and mapped, so the device works on one
// range at a time, and the faults are taken inside the call, where rusage counts them.

#include "userspace/strategies/mapped_copy.h"

namespace iotrace {

namespace {

class PopulateReader final : public Reader {
public:
  PopulateReader(const SourceFile& file, const ReadShape& shape, MappedCopy copy)
      : file_(file), read_size_(shape.read_size_bytes), copy_(std::move(copy)) {}

  Status announce(std::span<const std::uint64_t> offsets) override {
    for (std::uint64_t offset : offsets)
      if (Status mapped = advise_pages(file_, offset, read_size_, MADV_POPULATE_READ, "MADV_POPULATE_READ");
          !mapped)
        return mapped;
    return {};
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    copy_.copy(offsets, sink);
    return {};
  }

private:
  const SourceFile file_;
  const std::uint64_t read_size_;
  MappedCopy copy_;
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return MakeReader([file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto copy = MappedCopy::make(file, shape);
    if (!copy) return copy.error();
    return std::unique_ptr<Reader>(new PopulateReader(file, shape, std::move(*copy)));
  });
}

}

Strategy mmap_populate_strategy() {
  return {.name = "mmap-populate",
          .summary = "MADV_POPULATE_READ on each range of the batch, then copy; MADV_NORMAL",
          .maps_file = true,
          .prepare = prepare};
}

}
