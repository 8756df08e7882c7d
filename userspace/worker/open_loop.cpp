#include "userspace/worker/open_loop.h"

#include <algorithm>

#include "userspace/worker/sleep.h"
#include "userspace/worker/window.h"

namespace iotrace {

namespace {

// What a sleep may end late by, on a machine that has nothing else to do; the rest of a wait is spent looking
// at the clock.
constexpr std::uint64_t kSpinNs = 50'000;

std::uint64_t wait_until(std::uint64_t until_ns, std::uint64_t now_ns, const std::atomic<bool>& stop) {
  while (now_ns < until_ns && !stop.load(std::memory_order_relaxed)) {
    const std::uint64_t left = until_ns - now_ns;
    if (left > kSpinNs) sleep_until(now_ns + std::min(left - kSpinNs, kLongestSleepNs));
    now_ns = monotonic_ns();
  }
  return now_ns;
}

}

OpenLoop::OpenLoop(const ArrivalShape& shape, const std::atomic<bool>& stop, ThreadResult& result)
    : arrivals_(shape), stop_(stop), result_(result) {}

void OpenLoop::begin(std::uint64_t start_ns, std::uint64_t deadline_ns) {
  start_ns_ = start_ns;
  deadline_ns_ = deadline_ns;
  due_ns_ = start_ns + arrivals_.next();
}

bool OpenLoop::wait_for_arrival(std::uint64_t& now_ns) {
  const std::uint64_t before = now_ns;
  now_ns = wait_until(std::min(due_ns_, deadline_ns_), now_ns, stop_);
  result_.idle_ns += now_ns - before;
  return due_ns_ < deadline_ns_ && due_ns_ <= now_ns;
}

void OpenLoop::served(std::uint64_t now_ns) {
  const std::uint64_t response = now_ns - due_ns_;
  ++result_.response_bins[histogram_bin(response, kOpSubBits)];
  result_.response_sum_ns += response;
  result_.response_min_ns = std::min(result_.response_min_ns, response);
  result_.response_max_ns = std::max(result_.response_max_ns, response);
  due_ns_ = start_ns_ + arrivals_.next();
}

void OpenLoop::count_unserved(std::uint64_t end_ns, std::uint64_t most) {
  for (; due_ns_ < end_ns && result_.unserved < most; due_ns_ = start_ns_ + arrivals_.next())
    ++result_.unserved;
}

}
