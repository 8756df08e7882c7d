// reclaim: what the target's threads paid for memory: direct reclaim, TLB shootdowns, swap-ins
// (bpf/reclaim.bpf.c).

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  if (!states.works(HookId::kReclaim)) {
    readings.unavailable["reclaim"] = states.why_not(HookId::kReclaim);
    return;
  }
  const reclaim_counters& counted = sums.totals.reclaim;
  Reclaim& reclaim = readings.reclaim.emplace();
  reclaim.direct_stalls = counted.stalls;
  reclaim.cgroup_stalls = counted.cgroup_stalls;
  reclaim.stall_ns = sums.histograms[HISTOGRAM_RECLAIM];
  reclaim.reclaimed_pages = counted.reclaimed_pages;
  if (states.works(HookId::kTlb))
    reclaim.tlb_shootdowns = counted.tlb_shootdowns;
  else
    readings.unavailable["reclaim.tlb_shootdowns"] = states.why_not(HookId::kTlb);
  if (states.works(HookId::kSwap))
    reclaim.swap_in_pages = counted.swap_ins;
  else
    readings.unavailable["reclaim.swap_in_pages"] = states.why_not(HookId::kSwap);
}

Losses losses(const counters& totals) {
  return {.lost = totals.threads_displaced};
}

}

Probe reclaim_probe() {
  return {
      .info = {"reclaim",
               "times that threads had to free memory themselves; TLB shootdowns, pages read back from swap"},
      .hooks = {HookId::kReclaim, HookId::kTlb, HookId::kSwap},
      .needed = HookId::kReclaim,
      .borrows = {},
      .read = read,
      .losses = losses,
  };
}

}
