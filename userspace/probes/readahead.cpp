// readahead: windows of the followed file that the kernel chose to read ahead (bpf/readahead.bpf.c).

#include <iterator>

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

std::map<std::uint32_t, Count> by_order(const readahead_counters& windows) {
  std::map<std::uint32_t, Count> orders;
  for (std::uint32_t order = 0; order < std::size(windows.orders); ++order)
    if (windows.orders[order] != 0) orders[order] = windows.orders[order];
  return orders;
}

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  if (!states.works(HookId::kReadahead)) {
    readings.unavailable["readahead"] = states.why_not(HookId::kReadahead);
    return;
  }
  const readahead_counters& windows = sums.totals.readahead;
  readings.readahead = Readahead{
      .sync = windows.sync,
      .async = windows.async,
      .window_pages = sums.histograms[HISTOGRAM_READAHEAD_PAGES],
      .orders = by_order(windows),
      .mmap_miss_max = windows.mmap_miss_max,
  };
  if (windows.sync + windows.async == 0) {
    readings.readahead->mmap_miss_max.reset();
    readings.unavailable["readahead.mmap_miss_max"] = "it is seen in windows, and the kernel made none";
  }
}

Losses losses(const counters& totals) {
  return {.lost = totals.threads_displaced};
}

}

Probe readahead_probe() {
  return {
      .info = {"readahead", "windows that the kernel chose to read ahead: size, order, what started them"},
      .hooks = {HookId::kReadahead},
      .needed = HookId::kReadahead,
      .borrows = {},
      .read = read,
      .losses = losses,
  };
}

}
