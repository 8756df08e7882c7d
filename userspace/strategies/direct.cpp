// pread(2) with O_DIRECT: past the page cache. Direct I/O wants offset, length and memory aligned, so each
// read fetches the smallest aligned range that covers the request.

#include <unistd.h>

#include "userspace/strategies/direct_io.h"
#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

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
  auto alignment = switch_to_direct_io(file.fd);
  if (!alignment) return alignment.error();

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
