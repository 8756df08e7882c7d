// The open loop accounts for every arrival, served or not.

#include <atomic>
#include <memory>

#include <catch2/catch.hpp>

#include "userspace/worker/open_loop.h"
#include "userspace/worker/window.h"

using namespace iotrace;

namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t sum(const auto& bins) {
  std::uint64_t all = 0;
  for (std::uint64_t bin : bins) all += bin;
  return all;
}

}

TEST_CASE("a thread that stalls serves late arrivals at once, and their responses hold the wait") {
  const std::atomic<bool> stop{false};
  auto result = std::make_unique<ThreadResult>();
  OpenLoop loop({.rate = 1000, .poisson = false}, stop, *result);
  // A window that opened 10 ms ago, in which nothing was served until now.
  const std::uint64_t start = monotonic_ns() - 10 * kMs;
  loop.begin(start, start + 3600'000 * kMs);
  std::uint64_t now = start + 10 * kMs;
  for (int op = 0; op < 5; ++op) {
    const std::uint64_t before = now;
    REQUIRE(loop.wait_for_arrival(now));
    CHECK(now == before);  // due already
    now += kMs / 10;
    loop.served(now);
  }
  CHECK(result->idle_ns == 0);
  CHECK(sum(result->response_bins) == 5);
  CHECK(result->response_max_ns == 10 * kMs + kMs / 10);           // of the first, due at 0
  CHECK(result->response_min_ns == 10 * kMs + kMs / 2 - 4 * kMs);  // of the fifth, due at 4 ms
  // Due at 5 to 10 ms and not begun.
  loop.count_unserved(start + 10 * kMs + 1, UINT64_MAX);
  CHECK(result->unserved == 6);
}

TEST_CASE("arrivals beyond the operations asked for are not missed") {
  const std::atomic<bool> stop{false};
  auto result = std::make_unique<ThreadResult>();
  OpenLoop loop({.rate = 1000, .poisson = false}, stop, *result);
  loop.begin(0, UINT64_MAX);
  loop.count_unserved(100 * kMs, 7);
  CHECK(result->unserved == 7);
}

TEST_CASE("the wait for an arrival ends with the window, or when it is stopped") {
  std::atomic<bool> stop{false};
  auto result = std::make_unique<ThreadResult>();
  OpenLoop loop({.rate = 0.001, .poisson = false, .thread = 1, .threads = 2}, stop, *result);
  const std::uint64_t start = monotonic_ns();
  loop.begin(start, start + kMs);
  std::uint64_t now = start;
  CHECK_FALSE(loop.wait_for_arrival(now));
  CHECK(now >= start + kMs);
  CHECK(result->idle_ns == now - start);

  loop.begin(start, UINT64_MAX);
  stop = true;
  CHECK_FALSE(loop.wait_for_arrival(now));
  loop.count_unserved(now, UINT64_MAX);
  CHECK(result->unserved == 0);
}
