#pragma once
// A range of memory from mmap(2) that unmaps itself.

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "analysis/result.h"

namespace iotrace {

class MappedRegion {
public:
  MappedRegion() = default;
  // errors   failed: what mmap(2) says, with `what` as the attempt ("map the shared block")
  static Result<MappedRegion> map(std::size_t size, int protection, int flags, int fd, std::string what) {
    void* at = ::mmap(nullptr, size, protection, flags, fd, 0);
    if (at == MAP_FAILED) return errno_error(std::move(what), errno);
    return MappedRegion(static_cast<std::byte*>(at), size);
  }
  MappedRegion(MappedRegion&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedRegion& operator=(MappedRegion&& other) noexcept {
    if (this != &other) {
      reset();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~MappedRegion() { reset(); }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }
  void reset() {
    if (data_) ::munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }

private:
  MappedRegion(std::byte* data, std::size_t size) : data_(data), size_(size) {}

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}
