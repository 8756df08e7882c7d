// One process_madvise(2) on oneself for all ranges of the batch: the hints of mmap-random-willneed at the
// price of one entry into the kernel.

#include <climits>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "userspace/strategies/mapped_copy.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

// The kernel takes so many ranges in one call; a longer batch takes one call more.
constexpr std::size_t kMostRanges = IOV_MAX;

class VectorReader final : public Reader {
public:
  VectorReader(const SourceFile& file, const ReadShape& shape, std::shared_ptr<UniqueFd> self,
               MappedCopy copy)
      : file_(file), read_size_(shape.read_size_bytes), self_(std::move(self)), copy_(std::move(copy)),
        ranges_(std::min<std::size_t>(shape.reads_per_op, kMostRanges)) {}

  Status announce(std::span<const std::uint64_t> offsets) override {
    while (!offsets.empty()) {
      const auto together = offsets.first(std::min(offsets.size(), ranges_.size()));
      if (Status hinted = hint(together); !hinted) return hinted;
      offsets = offsets.subspan(together.size());
    }
    return {};
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    copy_.copy(offsets, sink);
    return {};
  }

private:
  Status hint(std::span<const std::uint64_t> offsets) {
    std::uint64_t wanted = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const PageRange pages = PageRange::around(file_, offsets[i], read_size_);
      ranges_[i] = {pages.start, pages.size_bytes};
      wanted += pages.size_bytes;
    }
    const ssize_t advised = ::process_madvise(self_->get(), ranges_.data(), offsets.size(), MADV_WILLNEED, 0);
    if (advised == static_cast<ssize_t>(wanted)) return {};
    std::string attempt = fmt::format("process_madvise(MADV_WILLNEED) of {} ranges, the first at offset {}",
                                      offsets.size(), offsets.front());
    if (advised < 0) return errno_error(std::move(attempt), errno);
    // The kernel stops at the first range that it refuses and says how far it came, not why.
    return Error{fmt::format("{}: {} of {} bytes advised; a range was refused", attempt, advised, wanted)};
  }

  const SourceFile file_;
  const std::uint64_t read_size_;
  const std::shared_ptr<UniqueFd> self_;
  MappedCopy copy_;
  std::vector<iovec> ranges_;
};

// Asks with no range at all: what the kernel forbids, it forbids before it looks at the ranges, and no page
// is read.
Status may_advise(int self) {
  if (::process_madvise(self, nullptr, 0, MADV_WILLNEED, 0) >= 0) return {};
  if (errno == EPERM)
    return unsupported("process_madvise on oneself: EPERM; this kernel wants CAP_SYS_NICE for it, which the "
                       "reader has only with --user 0");
  if (errno == ENOSYS) return unsupported("process_madvise: ENOSYS; it came with Linux 5.10");
  return errno_error("process_madvise on oneself", errno);
}

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  auto self = std::make_shared<UniqueFd>(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!*self) {
    if (errno == ENOSYS) return unsupported("pidfd_open: ENOSYS; it came with Linux 5.3");
    return errno_error("pidfd_open of oneself", errno);
  }
  if (Status may = may_advise(self->get()); !may) return may.error();
  if (Status advised = advise_mapping(file, MADV_RANDOM); !advised) return advised.error();

  return MakeReader([file, shape, self]() -> Result<std::unique_ptr<Reader>> {
    auto copy = MappedCopy::make(file, shape);
    if (!copy) return copy.error();
    return std::unique_ptr<Reader>(new VectorReader(file, shape, self, std::move(*copy)));
  });
}

}

Strategy mmap_random_willneed_vec_strategy() {
  return {.name = "mmap-random-willneed-vec",
          .summary = "one process_madvise(2) with all ranges of the batch, then copy; MADV_RANDOM",
          .maps_file = true,
          .hints = true,
          .differs_from = "mmap-random",
          .prepare = prepare};
}

}
