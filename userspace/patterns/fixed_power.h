#pragma once
// Powers in integer arithmetic. pow(3) differs in its last bit from one libm to the next, and a processor
// that fuses multiply and add differs again; offsets have to be the same everywhere.

#include <array>
#include <bit>
#include <cstdint>

namespace iotrace {

// A logarithm or an exponent has this many bits behind the point.
inline constexpr unsigned kLogBits = 48;

// log2(number), number >= 1, rounded down, by squaring the mantissa: each time it reaches 2, the next bit is
// 1.
inline std::uint64_t fixed_log2(std::uint64_t number) {
  const auto whole = static_cast<unsigned>(std::bit_width(number)) - 1;
  std::uint64_t mantissa = number << (63 - whole);  // in [1, 2), 63 bits behind the point
  std::uint64_t fraction = 0;
  for (unsigned bit = 0; bit < kLogBits; ++bit) {
    const unsigned __int128 square = static_cast<unsigned __int128>(mantissa) * mantissa;
    const auto reached_two = static_cast<unsigned>(square >> 127);
    mantissa = static_cast<std::uint64_t>(square >> (63 + reached_two));
    fraction = fraction << 1 | reached_two;
  }
  return (std::uint64_t{whole} << kLogBits) + fraction;
}

// Rounded down, bit by bit.
constexpr std::uint64_t fixed_sqrt(unsigned __int128 square) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1)
    if (static_cast<unsigned __int128>(root | bit) * (root | bit) <= square) root |= bit;
  return root;
}

// 2^-(1/2), 2^-(1/4), … times 2^64: each the root of the one before.
inline constexpr std::array<std::uint64_t, kLogBits> kHalvings = [] {
  std::array<std::uint64_t, kLogBits> roots{};
  unsigned __int128 square = static_cast<unsigned __int128>(1) << 127;
  for (std::uint64_t& root : roots) {
    root = fixed_sqrt(square);
    square = static_cast<unsigned __int128>(root) << 64;
  }
  return roots;
}();

// 2^-exponent times 2^64, at most 2^64 - 1: the product of the halvings whose bits are set.
inline std::uint64_t fixed_exp2_of_minus(std::uint64_t exponent) {
  std::uint64_t product = UINT64_MAX;
  for (unsigned bit = 0; bit < kLogBits; ++bit)
    if (exponent >> (kLogBits - 1 - bit) & 1)
      product = static_cast<std::uint64_t>((static_cast<unsigned __int128>(product) * kHalvings[bit]) >> 64);
  const std::uint64_t whole = exponent >> kLogBits;
  return whole < 64 ? product >> whole : 0;
}

}
