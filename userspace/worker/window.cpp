#include "userspace/worker/window.h"

#include <sched.h>
#include <time.h>

#include "userspace/worker/usage.h"

namespace iotrace {

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void Window::open() {
  while (lined_up_.load(std::memory_order_acquire) < starters_) sched_yield();
  block_.usage_start = process_usage();
  gate_.store(1, std::memory_order_release);
  block_.start_ns = monotonic_ns();
  go_.store(true, std::memory_order_release);
}

std::uint64_t Window::line_up() {
  lined_up_.fetch_add(1, std::memory_order_acq_rel);
  while (!go_.load(std::memory_order_acquire)) sched_yield();
  return block_.start_ns;
}

void Window::leave() {
  if (left_.fetch_add(1, std::memory_order_acq_rel) + 1 == block_.order.threads) {
    lock_guest_out();
    gate_.store(0, std::memory_order_release);
    block_.usage_end = process_usage();
    closed_.store(true, std::memory_order_release);
    return;
  }
  const timespec pause{0, 200'000};
  while (!closed_.load(std::memory_order_acquire)) nanosleep(&pause, nullptr);
}

// One cycle of a guest is short, so that the window waits for it on the processor, or next to it.
void Window::lock_guest_out() {
  for (Guest seen = Guest::kResting; !guest_.compare_exchange_weak(seen, Guest::kLockedOut);
       seen = Guest::kResting)
    sched_yield();
}

bool Window::guest_enters() {
  Guest seen = Guest::kResting;
  return guest_.compare_exchange_strong(seen, Guest::kWorking);
}

void Window::guest_leaves() {
  guest_.store(Guest::kResting, std::memory_order_release);
}

}
