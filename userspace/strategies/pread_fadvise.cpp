// Hint first, then pread(2): posix_fadvise(POSIX_FADV_WILLNEED) on each range of the batch, so that the
// device works on all of them at once, then the reads in the same order. POSIX_FADV_RANDOM on the descriptor
// keeps the kernel from reading ahead on its own.

#include <fcntl.h>
#include <unistd.h>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

class FadviseReader final : public Reader {
public:
  FadviseReader(int fd, PrivateBuffer buffer) : fd_(fd), buffer_(std::move(buffer)) {}

  Status announce(std::span<const std::uint64_t> offsets) override {
    const std::size_t size = buffer_.bytes().size();
    for (std::uint64_t offset : offsets)
      if (int error =
              ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED))
        return errno_error(fmt::format("fadvise(POSIX_FADV_WILLNEED) of {} bytes at offset {}", size, offset),
                           error);
    return {};
  }

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    const auto read_once = [this](std::span<std::byte> to, std::uint64_t offset) {
      return ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
    };
    const std::span<std::byte> buffer = buffer_.bytes();
    for (std::uint64_t offset : offsets) {
      if (Status read = read_exactly("pread", buffer, buffer.size(), offset, read_once); !read) return read;
      sink.consume(buffer);
    }
    return {};
  }

private:
  const int fd_;
  PrivateBuffer buffer_;
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  if (int error = ::posix_fadvise(file.fd, 0, 0, POSIX_FADV_RANDOM))
    return errno_error("fadvise(POSIX_FADV_RANDOM) of the whole file", error);

  return MakeReader([file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto buffer = PrivateBuffer::make(shape.read_size_bytes);
    if (!buffer) return buffer.error();
    return std::unique_ptr<Reader>(new FadviseReader(file.fd, std::move(*buffer)));
  });
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
