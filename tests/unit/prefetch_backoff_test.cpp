// Lucene's back-off, replayed by hand.

#include <string>

#include <catch2/catch.hpp>

#include "userspace/strategies/prefetch_backoff.h"

using iotrace::PrefetchBackoff;

namespace {

// One letter per hint wanted: 'h' the page is there, 'm' it is absent. One letter per hint back: '.'
// suppressed,
// '?' looked and found it there, '!' looked and hinted.
std::string replay(PrefetchBackoff& backoff, const std::string& pages) {
  std::string done;
  for (char page : pages) {
    if (!backoff.worth_a_look()) {
      done += '.';
    } else if (page == 'h') {
      done += '?';
    } else {
      backoff.missed();
      done += '!';
    }
  }
  return done;
}

}

TEST_CASE("back-off: cached pages are looked at after 0, 1, 2, 4, 8, 16 hints") {
  PrefetchBackoff backoff;
  CHECK(replay(backoff, "hhhhhhhhhhhhhhhhhhhh") == "???.?...?.......?...");
}

TEST_CASE("back-off: absent pages are hinted one and all") {
  PrefetchBackoff backoff;
  CHECK(replay(backoff, "mmmmmmmm") == "!!!!!!!!");
}

TEST_CASE("back-off: a miss brings the hints back, a miss that nobody looked at does not") {
  PrefetchBackoff backoff;
  // Count before each: 0 1 2 3 4 | 0 1 2 3 4 5 6 7 8 | 0 1 2
  CHECK(replay(backoff, "hhhhmhhhmhmmmm") == "???.!???.?...!");
  CHECK(replay(backoff, "hhhhh") == "???.?");
}

TEST_CASE("back-off: of 2^20 hints on a cached file 21 look") {
  PrefetchBackoff backoff;
  int looks = 0;
  for (int hint = 0; hint < 1 << 20; ++hint) looks += backoff.worth_a_look();
  CHECK(looks == 21);
  CHECK(backoff.worth_a_look());
  CHECK_FALSE(backoff.worth_a_look());
}
