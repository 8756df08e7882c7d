// syscalls: what the followed calls returned and how long they took; madvise by advice (bpf/syscalls.bpf.c).

#include "userspace/probes/calls.h"
#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

std::optional<std::string> error_of(const result_key& key) {
  if (key.error == 0) return std::nullopt;
  return errno_name(static_cast<int>(key.error));
}

// Results of one call by errno; advice, which parts madvise's further, is joined.
std::map<__u32, Count> calls_by_error(const Sums& sums, followed_call call) {
  std::map<__u32, Count> by_error;
  by_error[0] = sums.totals.syscalls.succeeded[call];
  for (const CallResult& result : sums.results)
    if (result.key.call == call) by_error[result.key.error] += result.count.calls;
  return by_error;
}

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  if (!states.works(HookId::kSyscalls)) {
    readings.unavailable["syscalls"] = readings.unavailable["madvise"] = states.why_not(HookId::kSyscalls);
    return;
  }
  auto& calls = readings.syscalls.emplace();
  for (const FollowedCall& followed : followed_calls()) {
    const Histogram& latency = sums.histograms[static_cast<std::size_t>(HISTOGRAM_CALLS) + followed.call];
    if (latency.count() == 0) continue;
    for (auto [error, count] : calls_by_error(sums, followed.call)) {
      SyscallCount& entry = calls.emplace_back();
      entry.name = followed.name;
      entry.calls = count;
      // The entry for success carries the latency of all, and stands there for it even if none succeeded.
      if (error == 0)
        entry.lat_ns = latency;
      else
        entry.error = errno_name(static_cast<int>(error));
    }
  }
  auto& madvise = readings.madvise.emplace();
  for (const CallResult& result : sums.results) {
    if (result.key.call != CALL_MADVISE) continue;
    madvise.push_back({.advice = advice_name(result.key.advice),
                       .error = error_of(result.key),
                       .calls = result.count.calls,
                       .misaligned = result.count.misaligned,
                       .requested_bytes = result.count.requested_bytes});
  }
  if (in_window.states.works(HookId::kUring))
    add_uring_hints(in_window, readings);
  else
    readings.unavailable["syscalls.io_uring"] = in_window.states.why_not(HookId::kUring);
}

Losses losses(const counters& totals) {
  return {.lost = totals.syscalls.lost + totals.threads_displaced + totals.hints.unplaced,
          .unmatched = totals.syscalls.unmatched};
}

}

Probe syscalls_probe() {
  return {
      .info = {"syscalls", "calls that read, map or advise: results by errno, latency; madvise by advice"},
      .hooks = {HookId::kSyscalls, HookId::kUring},
      .needed = HookId::kSyscalls,
      .borrows = {},
      .read = read,
      .losses = losses,
  };
}

}
