#pragma once
// One thread's open loop: waits for each arrival, measures responses from it, and counts what was left over.

#include <atomic>
#include <cstdint>

#include "userspace/worker/arrivals.h"
#include "userspace/worker/shared_block.h"

namespace iotrace {

class OpenLoop {
public:
  //   stop    ends the wait for an arrival
  //   result  of this thread: responses, idle time, unserved arrivals
  OpenLoop(const ArrivalShape& shape, const std::atomic<bool>& stop, ThreadResult& result);

  // The window has opened; both of CLOCK_MONOTONIC.
  void begin(std::uint64_t start_ns, std::uint64_t deadline_ns);

  // Waits for the next arrival, or not at all if it is due already; what was waited is idle time. False: the
  // window ended first.
  //   now_ns   in: the clock; out: the clock after the wait, when the op starts
  bool wait_for_arrival(std::uint64_t& now_ns);

  // The op that the last arrival began is over.
  void served(std::uint64_t now_ns);

  // Counts the arrivals that were due before `end_ns` and have not begun, up to `most`. Call it when the
  // window is over; the cost is that of making them, about 20 ns each.
  void count_unserved(std::uint64_t end_ns, std::uint64_t most);

private:
  Arrivals arrivals_;
  const std::atomic<bool>& stop_;
  ThreadResult& result_;
  std::uint64_t start_ns_ = 0, deadline_ns_ = 0;
  std::uint64_t due_ns_ = 0;  // of the arrival that is next, or under way
};

}
