#pragma once
// Where the bytes go: every byte that was asked for must come past here once per read, so that no strategy
// can get away with a page that it never looked at.

#include <cstddef>
#include <cstdint>
#include <span>

namespace iotrace {

class Sink {
public:
  // Adds the bytes to the running checksum: the sum of its little-endian 64-bit words (the rest of fewer
  // than 8 bytes zero-extended), modulo 2^64. Equal offsets give equal sums whatever the strategy and the
  // order.
  //   cost   about 60 ns per 4 KiB in the first-level cache
  void consume(std::span<const std::byte> bytes);

  std::uint64_t checksum() const { return checksum_; }
  std::uint64_t bytes() const { return bytes_; }

private:
  std::uint64_t checksum_ = 0;
  std::uint64_t bytes_ = 0;
};

}
