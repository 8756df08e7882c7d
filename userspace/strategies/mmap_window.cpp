// Read in order with the hint one window ahead: while a window is copied, the device fills the next. Each
// page is hinted once, a window at a time. The kernel reads at most max(read_ahead_kb, max_sectors_kb) for
// one hint and drops the rest without a word, so a window larger than that is filled in part.

#include <algorithm>

#include "userspace/strategies/mapped_copy.h"

namespace iotrace {

namespace {

constexpr std::uint64_t kWindowBytes = 2u << 20;

class WindowReader final : public MappedReader {
public:
  using MappedReader::MappedReader;

  Status announce(std::span<const std::uint64_t> offsets) override {
    const std::uint64_t position = offsets.front();
    const std::uint64_t wanted = std::min(offsets.back() + read_size_ + kWindowBytes, file_.size_bytes);
    // The first batch, a new pass, or a jump over all that was hinted.
    if (position < last_position_ || position > hinted_end_)
      hinted_end_ = position - position % file_.page_size_bytes;
    last_position_ = position;
    while (hinted_end_ < wanted) {
      const std::uint64_t size = std::min(kWindowBytes, file_.size_bytes - hinted_end_);
      if (Status hinted = advise_pages(file_, hinted_end_, size, MADV_WILLNEED, "MADV_WILLNEED"); !hinted)
        return hinted;
      hinted_end_ += size;
    }
    return {};
  }

private:
  std::uint64_t last_position_ = 0;
  std::uint64_t hinted_end_ = 0;  // of what this thread has hinted in this pass
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return make_mapped_reader<WindowReader>(file, shape);
}

}

Strategy mmap_window_strategy() {
  return {.name = "mmap-window",
          .summary = "in order: MADV_WILLNEED one window of 2 MiB ahead, then copy; MADV_NORMAL",
          .maps_file = true,
          .hints = true,
          .differs_from = "mmap",
          .sequential_only = true,
          .prepare = prepare};
}

}
