#include "userspace/worker/sleep.h"

#include <sys/prctl.h>

#include <ctime>

namespace iotrace {

void sleep_until(std::uint64_t at_ns) {
  const timespec at{static_cast<time_t>(at_ns / 1'000'000'000), static_cast<long>(at_ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

void sleep_precisely() {
  prctl(PR_SET_TIMERSLACK, 1);
}

}
