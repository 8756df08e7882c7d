// page_cache: which pages of the followed file entered and left the cache (bpf/page_cache.bpf.c).

#include <numeric>

#include <fmt/format.h>

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

Count sum(const auto& by_source) {
  return std::accumulate(std::begin(by_source), std::end(by_source), Count{0});
}

PageCacheBy by_source(const auto& pages) {
  return {.fault = pages[PAGE_BY_FAULT],
          .readahead = pages[PAGE_BY_READAHEAD],
          .hint = pages[PAGE_BY_HINT],
          .read = pages[PAGE_BY_READ],
          .other = pages[PAGE_BY_OTHER]};
}

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  if (!states.works(HookId::kPageCache)) {
    readings.unavailable["page_cache"] = states.why_not(HookId::kPageCache);
    return;
  }
  const page_counters& pages = sums.totals.pages;
  readings.page_cache = PageCache{
      .added_pages = sum(pages.added),
      .by = by_source(pages.added),
      .used_pages = sum(sums.pages.used),
      .wasted_pages = sum(sums.pages.wasted),
      .evicted_pages = pages.removed,
      .refault_pages = pages.refaults,
      .wasted_by = by_source(sums.pages.wasted),
      .evicted_age_ns = sums.histograms[HISTOGRAM_PAGE_AGES],
  };
  if (!states.works(HookId::kFaultStart)) {
    // Without a fault's start its pages would stand under `other`.
    for (PageCacheBy* by : {&readings.page_cache->by, &readings.page_cache->wasted_by})
      by->fault = by->readahead = by->other = std::nullopt;
    for (const char* group : {"by", "wasted_by"})
      for (const char* source : {"fault", "readahead", "other"})
        readings.unavailable[fmt::format("page_cache.{}.{}", group, source)] =
            states.why_not(HookId::kFaultStart);
  }
}

Losses losses(const counters& totals) {
  return {.lost = totals.pages.lost};
}

}

Probe page_cache_probe() {
  return {
      .info =
          {"page_cache",
           "pages of the file that entered the cache, by who brought them; used or wasted; that left it, and "
           "at what age"},
      .hooks = {HookId::kPageCache},
      .needed = HookId::kPageCache,
      .borrows = {HookId::kFaultStart, HookId::kFaultEnd},
      .read = read,
      .losses = losses,
  };
}

}
