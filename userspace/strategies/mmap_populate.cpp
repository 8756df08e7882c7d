// Map the pages in advance: MADV_POPULATE_READ on each range of the batch, then the copies, which do not
// fault any more. Not a hint: each call waits until its pages are read and mapped, so the device works on one
// range at a time, and the faults are taken inside the call, where rusage counts them.

#include "userspace/strategies/mapped_copy.h"

namespace iotrace {

namespace {

class PopulateReader final : public MappedReader {
public:
  using MappedReader::MappedReader;

  Status announce(std::span<const std::uint64_t> offsets) override {
    for (std::uint64_t offset : offsets)
      if (Status mapped = advise_pages(file_, offset, read_size_, MADV_POPULATE_READ, "MADV_POPULATE_READ");
          !mapped)
        return mapped;
    return {};
  }
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return make_mapped_reader<PopulateReader>(file, shape);
}

}

Strategy mmap_populate_strategy() {
  return {.name = "mmap-populate",
          .summary = "MADV_POPULATE_READ on each range of the batch, then copy; MADV_NORMAL",
          .maps_file = true,
          .prepare = prepare};
}

}
