// Where the threads waited, from the waits that the faults, syscalls and mmap_lock probes see. What they did
// for the rest of the window only those know who measured it.

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

// Seconds, if all hooks work that see them; else the reason against the first that doesn't.
std::optional<double> seconds(__u64 ns, std::initializer_list<HookId> hooks, const char* key,
                              const Counted& counted, ProbeReadings& readings) {
  for (HookId id : hooks)
    if (!counted.states.works(id)) {
      readings.unavailable[key] = counted.states.why_not(id);
      return std::nullopt;
    }
  return static_cast<double>(ns) / 1e9;
}

}

void read_time(const Counted& counted, ProbeReadings& readings) {
  using enum HookId;
  const wait_counters& waits = counted.sums.totals.waits;
  readings.time = TimeSplit{
      .fault_wait_s = seconds(waits.fault_ns, {kFaultStart, kFaultEnd, kPageCache}, "time.fault_wait_s",
                              counted, readings),
      .read_wait_s = seconds(waits.read_ns, {kSyscalls}, "time.read_wait_s", counted, readings),
      .lock_wait_s = seconds(waits.lock_ns, {kMmapLock, kSyscalls}, "time.lock_wait_s", counted, readings),
  };
}

}
