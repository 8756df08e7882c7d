// pread(2) with O_DIRECT: past the page cache. Direct I/O wants offset, length and memory aligned, so each
// read fetches the smallest aligned range that covers the request.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) {
  return value - value % unit;
}
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

// The memory is page-aligned, which satisfies every file system; only the file offset needs care.
//   errors   unsupported: the file system says that this file has no direct I/O
Result<std::uint64_t> offset_alignment(int fd) {
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) != 0)
    return errno_error("statx the file for the alignment of direct I/O", errno);
  // Linux before 6.1, or a file system that does not say: its block size is always good.
  if (!(facts.stx_mask & STATX_DIOALIGN)) return std::uint64_t{facts.stx_blksize};
  if (facts.stx_dio_offset_align == 0)
    return unsupported("no O_DIRECT for this file (STATX_DIOALIGN); put it on another file system");
  return std::uint64_t{facts.stx_dio_offset_align};
}

Status bypass_cache(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_DIRECT) == 0) return {};
  if (errno == EINVAL)
    return unsupported("set O_DIRECT: EINVAL; no O_DIRECT on this file system, put the file on another");
  return errno_error("set O_DIRECT", errno);
}

class DirectReader final : public Reader {
public:
  DirectReader(int fd, std::uint64_t alignment, std::uint64_t read_size, PrivateBuffer buffer)
      : fd_(fd), alignment_(alignment), read_size_(read_size), buffer_(std::move(buffer)) {}

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    const auto read_once = [this](std::span<std::byte> to, std::uint64_t offset) -> ssize_t {
      // The file's last block comes short, which leaves the next offset unaligned: nothing more to come.
      if (offset % alignment_ != 0) return 0;
      return ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
    };
    for (std::uint64_t offset : offsets) {
      const std::uint64_t start = round_down(offset, alignment_);
      const std::uint64_t end = offset + read_size_;
      const std::span<std::byte> range = buffer_.bytes().first(round_up(end, alignment_) - start);
      if (Status read = read_exactly("pread (O_DIRECT)", range, end - start, start, read_once); !read)
        return read;
      sink.consume(range.subspan(offset - start, read_size_));
    }
    return {};
  }

private:
  const int fd_;
  const std::uint64_t alignment_;
  const std::uint64_t read_size_;
  PrivateBuffer buffer_;
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  auto alignment = offset_alignment(file.fd);
  if (!alignment) return alignment.error();
  if (Status bypassed = bypass_cache(file.fd); !bypassed) return bypassed.error();

  return MakeReader([file, shape, alignment = *alignment]() -> Result<std::unique_ptr<Reader>> {
    // A range can begin and end inside a block: up to one block more than the request fills.
    auto buffer = PrivateBuffer::make(round_up(shape.read_size_bytes, alignment) + alignment);
    if (!buffer) return buffer.error();
    return std::unique_ptr<Reader>(
        new DirectReader(file.fd, alignment, shape.read_size_bytes, std::move(*buffer)));
  });
}

}

Strategy direct_strategy() {
  return {.name = "direct",
          .summary = "pread(2) with O_DIRECT, the smallest aligned range that covers the request",
          .bypasses_cache = true,
          .prepare = prepare};
}

}
