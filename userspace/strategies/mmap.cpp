// Copy from a mapping under one advice for all of it. The advice decides what a fault on an absent page
// reads: NORMAL the neighbourhood (read-around), SEQUENTIAL a window ahead, RANDOM that page alone.

#include "userspace/strategies/mapped_copy.h"

namespace iotrace {

namespace {

class MmapReader final : public Reader {
public:
  explicit MmapReader(MappedCopy copy) : copy_(std::move(copy)) {}

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    copy_.copy(offsets, sink);
    return {};
  }

private:
  MappedCopy copy_;
};

template<int advice> Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  // A fresh mapping is NORMAL already.
  if (advice != MADV_NORMAL)
    if (Status advised = advise_mapping(file, advice); !advised) return advised.error();

  return MakeReader([file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto copy = MappedCopy::make(file, shape);
    if (!copy) return copy.error();
    return std::unique_ptr<Reader>(new MmapReader(std::move(*copy)));
  });
}

}

Strategy mmap_strategy() {
  return {.name = "mmap",
          .summary = "copy from a mapping, MADV_NORMAL",
          .maps_file = true,
          .prepare = prepare<MADV_NORMAL>};
}

Strategy mmap_random_strategy() {
  return {.name = "mmap-random",
          .summary = "copy from a mapping, MADV_RANDOM",
          .maps_file = true,
          .differs_from = "mmap",
          .prepare = prepare<MADV_RANDOM>};
}

Strategy mmap_sequential_strategy() {
  return {.name = "mmap-sequential",
          .summary = "copy from a mapping, MADV_SEQUENTIAL",
          .maps_file = true,
          .prepare = prepare<MADV_SEQUENTIAL>};
}

}
