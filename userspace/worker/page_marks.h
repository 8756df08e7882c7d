#pragma once
// The reader's part of the page ledger (bpf/page_ledger.bpf.h): a byte per page of the file, into which the
// present mark is written once the page has been read from, and another one when a hint for it is withheld.
// An untraced worker marks nothing.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bpf/contract.h"

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
      const std::span<std::byte> pages = pages_of(offset, read_size_bytes);
      std::fill(pages.begin(), pages.end(), mark_);
    }
  }

  // Marks the pages of reads whose hint is withheld, before they are read. A page that was read in this
  // window, maybe by another thread just now, keeps the mark of that.
  void mark_withheld(std::span<const std::uint64_t> offsets, std::uint64_t read_size_bytes) const {
    if (ledger_.empty()) return;
    for (std::uint64_t offset : offsets)
      for (std::byte& page : pages_of(offset, read_size_bytes)) {
        std::atomic_ref<std::byte> byte(page);
        std::byte seen = byte.load(std::memory_order_relaxed);
        if (seen != mark_ && seen != withheld())
          byte.compare_exchange_strong(seen, withheld(), std::memory_order_relaxed);
      }
  }

private:
  std::byte withheld() const { return mark_ | std::byte{MARK_WITHHELD}; }

  // The bytes of the pages that a read touches.
  std::span<std::byte> pages_of(std::uint64_t offset, std::uint64_t read_size_bytes) const {
    const std::uint64_t first = std::min<std::uint64_t>(offset / page_size_bytes_, ledger_.size());
    const std::uint64_t end =
        std::min<std::uint64_t>((offset + read_size_bytes - 1) / page_size_bytes_ + 1, ledger_.size());
    return ledger_.subspan(first, end - first);
  }

  std::span<std::byte> ledger_;
  std::byte mark_{};
  std::uint64_t page_size_bytes_ = 1;
};

}
