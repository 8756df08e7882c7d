#pragma once
// pread(2) into a private, page-aligned buffer. One buffer serves all reads of a batch, as in a program that
// is done with a block before it reads the next; it stays in the processor's cache.

#include <unistd.h>

#include <utility>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/read_exactly.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

class PreadReader : public Reader {
public:
  PreadReader(int fd, PrivateBuffer buffer) : fd_(fd), buffer_(std::move(buffer)) {}

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) final {
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

protected:
  int fd() const { return fd_; }
  std::size_t read_size() { return buffer_.bytes().size(); }

private:
  const int fd_;
  PrivateBuffer buffer_;
};

// What prepare() returns for a reader that is made of a descriptor and a buffer.
template<typename PreadLike> MakeReader make_pread_reader(const SourceFile& file, const ReadShape& shape) {
  return [file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto buffer = PrivateBuffer::make(shape.read_size_bytes);
    if (!buffer) return buffer.error();
    return std::unique_ptr<Reader>(new PreadLike(file.fd, std::move(*buffer)));
  };
}

}
