#include "userspace/worker/usage.h"

#include <sys/resource.h>

namespace iotrace {

namespace {

std::uint64_t to_ns(const timeval& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_usec) * 1'000u;
}

UsageMark usage_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return {
      .major_faults = static_cast<std::uint64_t>(usage.ru_majflt),
      .minor_faults = static_cast<std::uint64_t>(usage.ru_minflt),
      .user_ns = to_ns(usage.ru_utime),
      .system_ns = to_ns(usage.ru_stime),
      .ctx_voluntary = static_cast<std::uint64_t>(usage.ru_nvcsw),
      .ctx_involuntary = static_cast<std::uint64_t>(usage.ru_nivcsw),
  };
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

}

UsageMark process_usage() {
  return usage_of(RUSAGE_SELF);
}

UsageMark thread_usage() {
  return usage_of(RUSAGE_THREAD);
}

UsageMark operator-(const UsageMark& a, const UsageMark& b) {
  return {
      .major_faults = less(a.major_faults, b.major_faults),
      .minor_faults = less(a.minor_faults, b.minor_faults),
      .user_ns = less(a.user_ns, b.user_ns),
      .system_ns = less(a.system_ns, b.system_ns),
      .ctx_voluntary = less(a.ctx_voluntary, b.ctx_voluntary),
      .ctx_involuntary = less(a.ctx_involuntary, b.ctx_involuntary),
  };
}

}
