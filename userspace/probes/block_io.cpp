// block_io: requests to the device that read the followed file (bpf/block_io.bpf.c).

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  if (!states.works(HookId::kBlockIo)) {
    readings.unavailable["block_io"] = states.why_not(HookId::kBlockIo);
    return;
  }
  readings.block_io = BlockIo{
      .reads = sums.totals.io.reads,
      .read_bytes = sums.totals.io.bytes,
      .lat_ns = sums.histograms[HISTOGRAM_IO_LATENCY],
      .request_bytes = sums.histograms[HISTOGRAM_IO_BYTES],
      .queue_depth = sums.histograms[HISTOGRAM_IO_DEPTH],
      .unplaced = sums.totals.io.unplaced,
  };
}

Losses losses(const counters& totals) {
  return {.lost = totals.io.lost};
}

}

Probe block_io_probe() {
  return {
      .info = {"block_io", "requests to the device that read the file: size, latency, how many in flight"},
      .hooks = {HookId::kBlockIo},
      .needed = HookId::kBlockIo,
      .borrows = {},
      .read = read,
      .losses = losses,
  };
}

}
