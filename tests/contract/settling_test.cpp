// The warm-up's end: rates by hand, and the verdict that they deserve.

#include <vector>

#include <catch2/catch.hpp>

#include "userspace/worker/settling.h"

using iotrace::settled;
using Rates = std::vector<double>;

TEST_CASE("settled: a rate that holds still has, one that climbs or falls has not") {
  CHECK(settled(Rates{100, 100, 100, 100, 100, 100, 100, 100}));
  CHECK_FALSE(settled(Rates{100, 110, 120, 130, 140, 150, 160, 170}));
  CHECK_FALSE(settled(Rates{170, 160, 150, 140, 130, 120, 110, 100}));
  // 7 x 0.7 of 102.45 on average: 4.8 %.
  CHECK(settled(Rates{100, 100.7, 101.4, 102.1, 102.8, 103.5, 104.2, 104.9}));
  // 7 x 0.8 of 102.8: 5.4 %, without any noise that would explain it.
  CHECK_FALSE(settled(Rates{100, 100.8, 101.6, 102.4, 103.2, 104, 104.8, 105.6}));
}

TEST_CASE("settled: noise without a direction is no climb") {
  CHECK(settled(Rates{100, 140, 60, 120, 80, 130, 70, 110}));
  // It climbs by 10 a slice, with noise of 2 about the line: proven.
  CHECK_FALSE(settled(Rates{102, 108, 122, 128, 142, 148, 162, 168}));
}

TEST_CASE("settled: only the last slices count, and a verdict needs them all") {
  CHECK(settled(Rates{1, 5, 50, 100, 100, 100, 100, 100, 100, 100, 100}));
  CHECK_FALSE(settled(Rates{100, 100, 100, 100, 100, 100, 100}));
  CHECK_FALSE(settled(Rates{0, 0, 0, 0, 0, 0, 0, 0}));
  CHECK_FALSE(settled(Rates{}));
}
