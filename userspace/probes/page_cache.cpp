// page_cache: which pages of the followed file entered and left the cache (bpf/page_cache.bpf.c).

#include <numeric>

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

void read(const Sums& sums, const HookStates& states, ProbeReadings& readings) {
  if (!states.works(HookId::kPageCache)) {
    readings.unavailable["page_cache"] = states.why_not(HookId::kPageCache);
    return;
  }
  const page_counters& pages = sums.totals.pages;
  readings.page_cache = PageCache{
      .added_pages = std::accumulate(std::begin(pages.added), std::end(pages.added), Count{0}),
      .by = {.fault = pages.added[PAGE_BY_FAULT],
             .readahead = pages.added[PAGE_BY_READAHEAD],
             .hint = pages.added[PAGE_BY_HINT],
             .read = pages.added[PAGE_BY_READ],
             .other = pages.added[PAGE_BY_OTHER]},
      .evicted_pages = pages.removed,
  };
  if (!states.works(HookId::kFaultStart)) {
    // Without a fault's start its pages would stand under `other`.
    readings.page_cache->by.fault.reset();
    readings.page_cache->by.readahead.reset();
    readings.page_cache->by.other.reset();
    for (const char* key : {"page_cache.by.fault", "page_cache.by.readahead", "page_cache.by.other"})
      readings.unavailable[key] = states.why_not(HookId::kFaultStart);
  }
  for (const char* key : {"page_cache.used_pages", "page_cache.wasted_pages", "page_cache.refault_pages"})
    readings.unavailable[key] = kNotCounted;
}

Losses losses(const counters& totals) {
  return {.lost = totals.pages.lost};
}

}

Probe page_cache_probe() {
  return {
      .info = {"page_cache",
               "pages of the file that entered the cache, by who brought them, and that left it"},
      .hooks = {HookId::kPageCache},
      .borrows = {HookId::kFaultStart, HookId::kFaultEnd},
      .read = read,
      .losses = losses,
  };
}

}
