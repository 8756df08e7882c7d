// mmap_lock: acquisitions, contention and waits by readers and writers (bpf/mmap_lock.bpf.c).

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

LockSide side(const Sums& sums, lock_side which) {
  return {
      .acquired = sums.totals.lock.acquired[which],
      .contended = sums.totals.lock.contended[which],
      .wait_ns = sums.histograms[static_cast<std::size_t>(HISTOGRAM_LOCK_WAITS) + which],
  };
}

void read(const Sums& sums, const HookStates& states, ProbeReadings& readings) {
  if (!states.works(HookId::kMmapLock)) {
    readings.unavailable["mmap_lock"] = states.why_not(HookId::kMmapLock);
    return;
  }
  readings.mmap_lock = MmapLock{.read = side(sums, LOCK_BY_READERS), .write = side(sums, LOCK_BY_WRITERS)};
  readings.unavailable["mmap_lock.holders"] = kNotCounted;
}

Losses losses(const counters& totals) {
  return {.lost = totals.threads_displaced};
}

}

Probe mmap_lock_probe() {
  return {
      .info = {"mmap_lock", "acquisitions of mmap_lock, contention and waits, by readers and writers"},
      .hooks = {HookId::kMmapLock},
      .borrows = {},
      .read = read,
      .losses = losses,
  };
}

}
