// read(2) in order from the descriptor's own position, as cat(1) reads. Threads must not share a position, so
// each opens the file again for itself.

#include <fcntl.h>
#include <unistd.h>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

class ReadReader final : public Reader {
public:
  ReadReader(UniqueFd fd, PrivateBuffer buffer) : fd_(std::move(fd)), buffer_(std::move(buffer)) {}

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) override {
    const auto read_once = [this](std::span<std::byte> to, std::uint64_t) {
      return ::read(fd_.get(), to.data(), to.size());
    };
    const std::span<std::byte> buffer = buffer_.bytes();
    for (std::uint64_t offset : offsets) {
      if (Status there = go_to(offset); !there) return there;
      if (Status read = read_exactly("read", buffer, buffer.size(), offset, read_once); !read) return read;
      position_ += buffer.size();
      sink.consume(buffer);
    }
    return {};
  }

private:
  // Only where the offsets jump: to the thread's part, back for a new pass, over a gap that --align leaves.
  Status go_to(std::uint64_t offset) {
    if (offset == position_) return {};
    if (::lseek(fd_.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
      return errno_error(fmt::format("lseek to offset {}", offset), errno);
    position_ = offset;
    return {};
  }

  const UniqueFd fd_;
  PrivateBuffer buffer_;
  std::uint64_t position_ = 0;
};

Result<MakeReader> prepare(const SourceFile& file, const ReadShape& shape) {
  return MakeReader([file, shape]() -> Result<std::unique_ptr<Reader>> {
    const std::string path = fmt::format("/proc/self/fd/{}", file.fd);
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return errno_error("open the file once more, through " + path, errno, "mount /proc");
    auto buffer = PrivateBuffer::make(shape.read_size_bytes);
    if (!buffer) return buffer.error();
    return std::unique_ptr<Reader>(new ReadReader(std::move(fd), std::move(*buffer)));
  });
}

}

Strategy read_strategy() {
  return {.name = "read",
          .summary = "in order: read(2) from the position of the thread's own descriptor",
          .sequential_only = true,
          .prepare = prepare};
}

}
