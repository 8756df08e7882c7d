#pragma once
// The reader's part of the page ledger (bpf/page_ledger.bpf.h): a byte per page of the file, into which the
// present mark is written once the page has been read from. An untraced worker marks nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace iotrace {

class PageMarks {
public:
  PageMarks() = default;

  //   ledger  shared with the probes, a byte per page; pages beyond it are not marked
  //   mark    of this window
  PageMarks(std::span<std::byte> ledger, std::byte mark, std::uint64_t page_size_bytes)
      : ledger_(ledger), mark_(mark), page_size_bytes_(page_size_bytes) {}

  // Marks the pages that reads of `read_size_bytes`, at least 1, at the offsets have touched. Call after the
  // reads: a mark that comes before its page would be taken for a use of the page's last life.
  void mark(std::span<const std::uint64_t> offsets, std::uint64_t read_size_bytes) const {
    if (ledger_.empty()) return;
    for (std::uint64_t offset : offsets) {
      const std::uint64_t first = std::min<std::uint64_t>(offset / page_size_bytes_, ledger_.size());
      const std::uint64_t end =
          std::min<std::uint64_t>((offset + read_size_bytes - 1) / page_size_bytes_ + 1, ledger_.size());
      std::fill(ledger_.begin() + static_cast<std::ptrdiff_t>(first),
                ledger_.begin() + static_cast<std::ptrdiff_t>(end), mark_);
    }
  }

private:
  std::span<std::byte> ledger_;
  std::byte mark_{};
  std::uint64_t page_size_bytes_ = 1;
};

}
