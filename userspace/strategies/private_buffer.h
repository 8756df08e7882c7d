#pragma once
// A reader's own memory: page-aligned, and written once when it is made, so that it never faults while the
// clock runs.

#include <cstring>
#include <span>

#include "userspace/mapped_region.h"

namespace iotrace {

class PrivateBuffer {
public:
  //   errors   failed: no memory
  static Result<PrivateBuffer> make(std::size_t size_bytes) {
    auto region = MappedRegion::map(size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                                    "get memory for a read buffer");
    if (!region) return region.error();
    std::memset(region->data(), 0, region->size());
    return PrivateBuffer(std::move(*region));
  }

  std::byte* data() const { return region_.data(); }
  std::span<std::byte> bytes() const { return {region_.data(), region_.size()}; }

private:
  explicit PrivateBuffer(MappedRegion region) : region_(std::move(region)) {}

  MappedRegion region_;
};

}
