// Integer powers agree with the real ones.

#include <cmath>

#include <catch2/catch.hpp>

#include "userspace/patterns/fixed_power.h"

using namespace iotrace;

TEST_CASE("fixed_log2 is exact for powers of two and right to 1e-13 otherwise") {
  CHECK(fixed_log2(1) == 0);
  CHECK(fixed_log2(std::uint64_t{1} << 63) == std::uint64_t{63} << kLogBits);
  for (std::uint64_t number = 1; number < (std::uint64_t{1} << 62); number = number * 3 + 1) {
    CAPTURE(number);
    CHECK(std::abs(double(fixed_log2(number)) / 0x1p48 - std::log2(double(number))) < 1e-13);
  }
}

TEST_CASE("fixed_exp2_of_minus: whole exponents halve, fractions are right to 1e-13") {
  CHECK(fixed_exp2_of_minus(0) == UINT64_MAX);
  CHECK(fixed_exp2_of_minus(std::uint64_t{1} << kLogBits) == UINT64_MAX >> 1);
  CHECK(fixed_exp2_of_minus(std::uint64_t{64} << kLogBits) == 0);
  CHECK(kHalvings[0] == 13043817825332782212u);  // 2^63.5, rounded down
  for (double exponent : {0.1, 0.5, 0.75, 1.25, 3.999, 20.3}) {
    CAPTURE(exponent);
    const double power = double(fixed_exp2_of_minus(std::uint64_t(exponent * 0x1p48))) / 0x1p64;
    CHECK(std::abs(power / std::exp2(-exponent) - 1) < 1e-12);
  }
}
