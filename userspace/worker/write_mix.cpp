#include "userspace/worker/write_mix.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr std::uint32_t kSalt = 0x317e;  // apart from the offsets of the same seed, round and thread

std::mt19937_64 generator(const WriteShape& shape) {
  std::seed_seq seed{static_cast<std::uint32_t>(shape.seed), static_cast<std::uint32_t>(shape.seed >> 32),
                     shape.round, shape.thread, kSalt};
  return std::mt19937_64(seed);
}

}

Result<std::unique_ptr<WriteMix>> WriteMix::make(const SourceFile& file, const WriteShape& shape) {
  auto bytes = PrivateBuffer::make(shape.read_size_bytes);
  if (!bytes) return bytes.error();
  return std::unique_ptr<WriteMix>(new WriteMix(file, shape, std::move(*bytes)));
}

WriteMix::WriteMix(const SourceFile& file, const WriteShape& shape, PrivateBuffer bytes)
    : file_(file), shape_(shape), bytes_(std::move(bytes)), generator_(generator(shape)),
      threshold_(static_cast<std::uint64_t>(shape.write_pct / 100 * 0x1p63)) {
  reads_.reserve(shape.reads_per_op);
  writes_.reserve(shape.reads_per_op);
  std::mt19937_64 content(shape.seed + shape.thread);
  for (std::byte& byte : bytes_.bytes()) byte = static_cast<std::byte>(content());
}

void WriteMix::start_over() {
  generator_ = generator(shape_);
  written_ = 0;
}

std::span<const std::uint64_t> WriteMix::keep_reads(std::span<const std::uint64_t> offsets) {
  reads_.clear();
  writes_.clear();
  for (std::uint64_t offset : offsets)
    ((generator_() >> 1) < threshold_ ? writes_ : reads_).push_back(offset);
  return reads_;
}

Status WriteMix::write() {
  const std::span<const std::byte> bytes = bytes_.bytes();
  for (std::uint64_t offset : writes_) {
    if (file_.mapping) {
      std::memcpy(file_.mapping + offset, bytes.data(), bytes.size());
    } else {
      const ssize_t done = ::pwrite(file_.fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0) return errno_error(fmt::format("pwrite at offset {}", offset), errno);
      if (static_cast<std::size_t>(done) != bytes.size())
        return Error{fmt::format("pwrite at offset {}: ENOSPC, short write of {} bytes", offset, done)};
    }
  }
  written_ += writes_.size();
  return {};
}

}
