#include "userspace/worker/window.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

namespace iotrace {

namespace {

std::uint64_t to_ns(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_usec) * 1'000u;
}

UsageMark usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {
      .major_faults = static_cast<std::uint64_t>(usage.ru_majflt),
      .minor_faults = static_cast<std::uint64_t>(usage.ru_minflt),
      .user_ns = to_ns(usage.ru_utime),
      .system_ns = to_ns(usage.ru_stime),
      .ctx_voluntary = static_cast<std::uint64_t>(usage.ru_nvcsw),
      .ctx_involuntary = static_cast<std::uint64_t>(usage.ru_nivcsw),
  };
}

}

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void Window::open() {
  while (lined_up_.load(std::memory_order_acquire) < block_.order.threads) sched_yield();
  block_.usage_start = usage_now();
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
    gate_.store(0, std::memory_order_release);
    block_.usage_end = usage_now();
    closed_.store(true, std::memory_order_release);
    return;
  }
  const timespec pause{0, 200'000};
  while (!closed_.load(std::memory_order_acquire)) nanosleep(&pause, nullptr);
}

}
