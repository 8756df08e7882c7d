#pragma once
// What all mmap strategies share: advice for the whole mapping or a part of it, and the copy out of it.

#include <cstring>

#include <fmt/format.h>

#include "userspace/strategies/private_buffer.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

// Advice for every later fault in the mapping.
//   errors   failed: what madvise(2) says
inline Status advise_mapping(const SourceFile& file, int advice) {
  if (::madvise(file.mapping, file.size_bytes, advice) == 0) return {};
  return errno_error(fmt::format("madvise(advice {}) on the whole mapping", advice), errno);
}

// The pages that a read touches: madvise(2) and its like want a page boundary at the start.
struct PageRange {
  std::byte* start = nullptr;
  std::uint64_t size_bytes = 0;  // to the end of the read

  static PageRange around(const SourceFile& file, std::uint64_t offset, std::uint64_t size_bytes) {
    const std::uint64_t into_page = offset % file.page_size_bytes;
    return {file.mapping + offset - into_page, size_bytes + into_page};
  }
};

// Advice for the pages of one read.
//   name     of the advice, for the message
//   errors   failed: what madvise(2) says
inline Status advise_pages(const SourceFile& file, std::uint64_t offset, std::uint64_t size_bytes, int advice,
                           std::string_view name) {
  const PageRange pages = PageRange::around(file, offset, size_bytes);
  if (::madvise(pages.start, pages.size_bytes, advice) == 0) return {};
  return errno_error(fmt::format("madvise({}) of {} bytes at offset {}", name, size_bytes, offset), errno);
}

// Copies each range into the reader's own buffer, as a program that decodes what it reads does. The buffer
// is reused for each read, so it stays in the processor's cache and the faults are what differs.
class MappedCopy {
public:
  static Result<MappedCopy> make(const SourceFile& file, const ReadShape& shape) {
    auto buffer = PrivateBuffer::make(shape.read_size_bytes);
    if (!buffer) return buffer.error();
    return MappedCopy(file.mapping, std::move(*buffer));
  }

  void copy(std::span<const std::uint64_t> offsets, Sink& sink) {
    const std::span<std::byte> buffer = buffer_.bytes();
    for (std::uint64_t offset : offsets) {
      std::memcpy(buffer.data(), mapping_ + offset, buffer.size());
      sink.consume(buffer);
    }
  }

private:
  MappedCopy(const std::byte* mapping, PrivateBuffer buffer)
      : mapping_(mapping), buffer_(std::move(buffer)) {}

  const std::byte* mapping_;
  PrivateBuffer buffer_;
};

// A reader that copies; what it announces is its own affair.
class MappedReader : public Reader {
public:
  MappedReader(const SourceFile& file, const ReadShape& shape, MappedCopy copy)
      : file_(file), read_size_(shape.read_size_bytes), copy_(std::move(copy)) {}

  Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) final {
    copy_.copy(offsets, sink);
    return {};
  }

protected:
  const SourceFile file_;
  const std::uint64_t read_size_;

private:
  MappedCopy copy_;
};

// What prepare() returns for such a reader.
template<typename MappedLike> MakeReader make_mapped_reader(const SourceFile& file, const ReadShape& shape) {
  return [file, shape]() -> Result<std::unique_ptr<Reader>> {
    auto copy = MappedCopy::make(file, shape);
    if (!copy) return copy.error();
    return std::unique_ptr<Reader>(new MappedLike(file, shape, std::move(*copy)));
  };
}

}
