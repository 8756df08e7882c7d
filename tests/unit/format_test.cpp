#include "analysis/format.h"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace iotrace;

TEST_CASE("three digits are kept over all magnitudes") {
  CHECK(three_digits(0) == "0");
  CHECK(three_digits(0.00912) == "0.00912");
  CHECK(three_digits(0.5) == "0.500");
  CHECK(three_digits(12.34) == "12.3");
  CHECK(three_digits(1234.4) == "1234");
  CHECK(three_digits(-12.34) == "-12.3");
}

TEST_CASE("a number that rounds up to the next magnitude keeps three digits") {
  CHECK(three_digits(9.996) == "10.0");
  CHECK(three_digits(0.9996) == "1.00");
  CHECK(three_digits(99.94) == "99.9");
}

TEST_CASE("what is not finite is not available") {
  CHECK(three_digits(std::nan("")) == "-");
  CHECK(human_ns(std::numeric_limits<double>::infinity()) == "-");
  CHECK(percent(std::nan("")) == "-");
  CHECK(interval({}) == "-");
}

TEST_CASE("bytes are written in binary units, exact ones without decimals") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(512) == "512 B");
  CHECK(human_bytes(16384) == "16 KiB");
  CHECK(human_bytes(1.5 * 1024 * 1024 * 1024) == "1.50 GiB");
  CHECK(human_bytes(1024.0 * 1024 - 1) == "1.00 MiB");
  CHECK(human_bytes(0x1p64) == "16384 PiB");
}

TEST_CASE("durations take the unit that leaves one to three digits before the point") {
  CHECK(human_ns(0) == "0 ns");
  CHECK(human_ns(999) == "999 ns");
  CHECK(human_ns(1000) == "1.00 us");
  CHECK(human_ns(1'250'000) == "1.25 ms");
  CHECK(human_ns(999'600'000) == "1.00 s");
  CHECK(human_ns(123e9) == "123 s");
}

TEST_CASE("throughput is in decimal megabytes") {
  CHECK(megabytes_per_s(104'857'600) == "105");
}

TEST_CASE("a percentage never rounds nearly all to all, nor hardly any to none") {
  CHECK(percent(0) == "0 %");
  CHECK(percent(1) == "100 %");
  CHECK(percent(0.031) == "3.1 %");
  CHECK(percent(0.9999) == "> 99.9 %");
  CHECK(percent(0.00001) == "< 0.1 %");
  CHECK(percent(1.257) == "126 %");
}

TEST_CASE("an interval is written with the decimals of its median") {
  CHECK(interval({12.34, 11.9, 12.85, 6}) == "12.3 [11.9-12.8]");
  CHECK(interval({0.00912, 0.009, 0.01, 6}) == "0.00912 [0.00900-0.01000]");
}

TEST_CASE("without an interval the median stands alone") {
  CHECK(interval({12.34, std::nullopt, std::nullopt, 3}) == "12.3");
}

TEST_CASE("one of a thing is singular") {
  CHECK(counted(1, "read") == "1 read");
  CHECK(counted(0, "read") == "0 reads");
  CHECK(threads_name(4) == "T04");
  CHECK(threads_name(128) == "T128");
}
