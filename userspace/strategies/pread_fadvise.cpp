// Hint first, then pread(2): posix_fadvise(POSIX_FADV_WILLNEED) on each range of the batch, so that the
// device works on all of them at once, then the reads in the same order. POSIX_FADV_RANDOM on the descriptor
// keeps the kernel from reading ahead on its own.

#include <fcntl.h>

#include <fmt/format.h>

#include "userspace/strategies/pread_reader.h"

namespace iotrace {

namespace {

class FadviseReader final : public PreadReader {
public:
  using PreadReader::PreadReader;

  Status announce(std::span<const std::uint64_t> offsets) override {
    const std::size_t size = read_size();
    for (std::uint64_t offset : offsets)
      if (int error = ::posix_fadvise(fd(), static_cast<off_t>(offset), static_cast<off_t>(size),
                                      POSIX_FADV_WILLNEED))
        return errno_error(fmt::format("fadvise(POSIX_FADV_WILLNEED) of {} bytes at offset {}", size, offset),
                           error);
    return {};
  }
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  if (int error = ::posix_fadvise(file.fd, 0, 0, POSIX_FADV_RANDOM))
    return errno_error("fadvise(POSIX_FADV_RANDOM) of the whole file", error);
  return make_pread_reader<FadviseReader>(file, shape);
}

}

Strategy pread_fadvise_strategy() {
  return {.name = "pread-fadvise",
          .summary = "POSIX_FADV_WILLNEED on each range of the batch, then pread(2); POSIX_FADV_RANDOM",
          .hints = true,
          .differs_from = "pread",
          .prepare = prepare};
}

}
