// faults: how long page faults took, by what happened in them (bpf/faults.bpf.c).

#include <unistd.h>

#include "userspace/probes/probe.h"
#include "userspace/probes/thread_names.h"

namespace iotrace {

namespace {

FaultClass faults_of(const Sums& sums, fault_kind kind) {
  const Histogram& latency = sums.histograms[static_cast<std::size_t>(HISTOGRAM_FAULTS) + kind];
  return {.count = latency.count(), .lat_ns = latency};
}

std::string name_of(__u32 kind) {
  switch (kind) {
  case FAULT_MAPPED: return "mapped";
  case FAULT_WAITED: return "waited";
  case FAULT_READ: return "read";
  default: return "other";
  }
}

std::vector<LongFault> longest(const Sums& sums, pid_t tgid) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<LongFault> faults;
  for (const long_fault& fault : sums.long_faults) {
    if (faults.size() == kLongestFaults) break;
    LongFault& kept = faults.emplace_back();
    kept.latency_ns = fault.ns;
    if (~fault.page != 0) kept.offset_bytes = fault.page * page_bytes;
    kept.tid = fault.tid;
    kept.thread = thread_name(tgid, fault.tid);
    kept.kind = name_of(fault.kind);
  }
  return faults;
}

// The value, if all hooks work that it stands on; else the reason against the first that doesn't.
template<typename Value>
std::optional<Value> if_works(std::initializer_list<HookId> hooks, const Value& value, const char* key,
                              const HookStates& states, ProbeReadings& readings) {
  for (HookId id : hooks)
    if (!states.works(id)) {
      readings.unavailable[key] = states.why_not(id);
      return std::nullopt;
    }
  return value;
}

// What is known of how the kernel served the faults (bpf/fault_service.bpf.h).
void read_service(const Counted& in_window, Faults& faults, ProbeReadings& readings) {
  using enum HookId;
  const auto& [sums, states, tgid] = in_window;
  const fault_counters& counted = sums.totals.faults;
  faults.retried = if_works({kFaultStart, kFaultPasses, kFaultAround}, counted.retried, "faults.retried",
                            states, readings);
  faults.blocked_threads_max = if_works({kFaultStart, kPageCache, kFaultPasses}, sums.most_blocked,
                                        "faults.blocked_threads_max", states, readings);
  faults.around_pages = if_works({kFaultStart, kFaultAround}, sums.histograms[HISTOGRAM_AROUND_PAGES],
                                 "faults.around_pages", states, readings);
  faults.mapped_pages =
      if_works({kFaultStart, kFaultMapped}, counted.mapped_pages, "faults.mapped_pages", states, readings);
  // Without the page cache's events a fault that read is taken for one that waited.
  faults.longest =
      if_works({kFaultStart, kPageCache}, longest(sums, tgid), "faults.longest", states, readings);
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
  read_service(in_window, faults, readings);
}

Losses losses(const counters& totals) {
  return {.lost = totals.threads_displaced, .unmatched = totals.faults.unmatched};
}

}

Probe faults_probe() {
  return {
      .info = {"faults",
               "page faults and their latency: mapped from the cache, waited for I/O, read by the fault"},
      .hooks = {HookId::kFaultStart, HookId::kFaultEnd, HookId::kFaultPasses, HookId::kFaultAround,
                HookId::kFaultMapped},
      .needed = HookId::kFaultEnd,
      .borrows = {HookId::kPageCache, HookId::kMmapLock},
      .read = read,
      .losses = losses,
  };
}

}
