#pragma once
// The measured window of one repetition: all readers start together, and the gate of the probes, the clock
// and rusage cover exactly the time between the first operation's start and the last one's end.
//
// While the gate is open no thread of the worker may make a system call of its own that a probe follows:
// readers are therefore let go by a spinning flag and, when they are early, wait in nanosleep(2), not in a
// futex.

#include <atomic>
#include <cstdint>

#include "userspace/worker/shared_block.h"

namespace iotrace {

std::uint64_t monotonic_ns();

class Window {
public:
  //   gate   a word that is 1 while the window is open (bpf/contract.h), or a stand-in
  //   guest  another thread lines up with the readers and works beside them; the window ends without it
  Window(SharedBlock& block, std::atomic<std::uint32_t>& gate, bool guest)
      : block_(block), gate_(gate), starters_(block.order.threads + (guest ? 1 : 0)) {}

  // Main thread: waits until every reader stands at the line, opens the window, lets them go.
  void open();

  // Reader, guest: stands at the line; returns the time at which the window opened.
  std::uint64_t line_up();

  // Reader: is through. The last one closes the window. Returns when it is closed.
  void leave();

  // Guest: what it does between the two is done inside of the window, which waits for it. False: the window
  // is closed, and nothing is to be done any more.
  bool guest_enters();
  void guest_leaves();
  bool closed() const { return guest_.load(std::memory_order_acquire) == Guest::kLockedOut; }

private:
  enum class Guest : std::uint32_t { kResting, kWorking, kLockedOut };
  void lock_guest_out();

  SharedBlock& block_;
  std::atomic<std::uint32_t>& gate_;
  const std::uint32_t starters_;
  std::atomic<std::uint32_t> lined_up_{0};
  std::atomic<std::uint32_t> left_{0};
  std::atomic<bool> go_{false};
  std::atomic<bool> closed_{false};
  std::atomic<Guest> guest_{Guest::kResting};
};

}
