#include "userspace/strategies/sink.h"

#include <bit>
#include <cstring>

namespace iotrace {

static_assert(std::endian::native == std::endian::little, "the checksum is defined on little-endian words");

// Two words, as the vector registers of every x86-64 and arm64 hold them, at any address.
using TwoWords = std::uint64_t __attribute__((vector_size(16), aligned(1), may_alias));

void Sink::consume(std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();

  // Four sums side by side, written out: one alone would be a chain of additions, each waiting for the one
  // before, and g++ 12 at -O2 leaves an array of them in memory.
  TwoWords a{}, b{}, c{}, d{};
  for (; left >= 4 * sizeof(TwoWords); at += 4 * sizeof(TwoWords), left -= 4 * sizeof(TwoWords)) {
    const auto* words = reinterpret_cast<const TwoWords*>(at);
    a += words[0];
    b += words[1];
    c += words[2];
    d += words[3];
  }
  const TwoWords both = (a + b) + (c + d);
  std::uint64_t sum = both[0] + both[1];

  while (left > 0) {
    std::uint64_t word = 0;
    const std::size_t size = left < sizeof(word) ? left : sizeof(word);
    std::memcpy(&word, at, size);
    sum += word;
    at += size;
    left -= size;
  }
  checksum_ += sum;
  bytes_ += bytes.size();
}

}
