// faults: how long page faults took, by what happened in them (bpf/faults.bpf.c).

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

FaultClass faults_of(const Sums& sums, fault_kind kind) {
  const Histogram& latency = sums.histograms[static_cast<std::size_t>(HISTOGRAM_FAULTS) + kind];
  return {.count = latency.count(), .lat_ns = latency};
}

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  auto& unavailable = readings.unavailable;
  if (!states.works(HookId::kFaultEnd)) {
    unavailable["faults"] = states.why_not(HookId::kFaultEnd);
    return;
  }
  const fault_counters& counted = sums.totals.faults;
  Faults& faults = readings.faults.emplace();
  faults.minor = counted.minor;
  faults.major = counted.major;

  bool starts = states.works(HookId::kFaultStart);
  if (starts) {
    faults.other = faults_of(sums, FAULT_OTHER);
  } else {
    unavailable["faults.other"] = states.why_not(HookId::kFaultStart);
  }
  if (starts && states.works(HookId::kPageCache)) {
    faults.mapped = faults_of(sums, FAULT_MAPPED);
    faults.waited = faults_of(sums, FAULT_WAITED);
    faults.read = faults_of(sums, FAULT_READ);
  } else {
    for (const char* key : {"faults.mapped", "faults.waited", "faults.read"})
      unavailable[key] = states.why_not(starts ? HookId::kPageCache : HookId::kFaultStart);
  }
  if (starts && states.works(HookId::kMmapLock)) {
    faults.under_vma_lock = counted.under_vma_lock;
    faults.under_mmap_lock = counted.under_mmap_lock;
  } else {
    for (const char* key : {"faults.under_vma_lock", "faults.under_mmap_lock"})
      unavailable[key] = states.why_not(starts ? HookId::kMmapLock : HookId::kFaultStart);
  }
  for (const char* key :
       {"faults.retried", "faults.blocked_threads_avg", "faults.blocked_threads_max", "faults.longest"})
    unavailable[key] = kNotCounted;
}

Losses losses(const counters& totals) {
  return {.lost = totals.threads_displaced, .unmatched = totals.faults.unmatched};
}

}

Probe faults_probe() {
  return {
      .info = {"faults",
               "page faults and their latency: mapped from the cache, waited for I/O, read by the fault"},
      .hooks = {HookId::kFaultStart, HookId::kFaultEnd},
      .needed = HookId::kFaultEnd,
      .borrows = {HookId::kPageCache, HookId::kMmapLock},
      .read = read,
      .losses = losses,
  };
}

}
