// pread(2) into a private, page-aligned buffer. One buffer serves all reads of a batch, as in a program that
// is done with a block before it reads the next; it stays in the processor's cache.

#include <unistd.h>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

class PreadReader final : public Reader {
public:
  PreadReader(int fd, PrivateBuffer buffer) : fd_(fd), buffer_(std::move(buffer)) {}

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
  return MakeReader([file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto buffer = PrivateBuffer::make(shape.read_size_bytes);
    if (!buffer) return buffer.error();
    return std::unique_ptr<Reader>(new PreadReader(file.fd, std::move(*buffer)));
  });
}

}

Strategy pread_strategy() {
  return {.name = "pread", .summary = "pread(2) into a private page-aligned buffer", .prepare = prepare};
}

}
