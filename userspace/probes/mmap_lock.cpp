// mmap_lock: acquisitions, contention and waits by readers and writers; holders (bpf/mmap_lock.bpf.c).

#include <algorithm>

#include "userspace/probes/calls.h"
#include "userspace/probes/probe.h"
#include "userspace/probes/thread_names.h"

namespace iotrace {

namespace {

LockSide side(const Sums& sums, lock_side which) {
  return {
      .acquired = sums.totals.lock.acquired[which],
      .contended = sums.totals.lock.contended[which],
      .wait_ns = sums.histograms[static_cast<std::size_t>(HISTOGRAM_LOCK_WAITS) + which],
      .hold_ns = sums.histograms[static_cast<std::size_t>(HISTOGRAM_LOCK_HOLDS) + which],
  };
}

std::string holders_call(__u32 call) {
  if (call == CALL_FAULT) return "page fault";
  for (const FollowedCall& followed : followed_calls())
    if (followed.call == call) return std::string(followed.name);
  return "another call";
}

// Threads of one name are one holder.
std::vector<LockHolder> holders_of(const std::vector<HolderCount>& counts, pid_t tgid) {
  std::map<std::pair<std::string, std::string>, Count> times;
  for (const HolderCount& count : counts)
    times[{thread_name(tgid, count.who.tid), holders_call(count.who.call)}] += count.times;
  std::vector<LockHolder> holders;
  for (const auto& [who, count] : times) holders.push_back({who.first, who.second, count});
  std::ranges::stable_sort(holders, std::greater(), &LockHolder::times);
  return holders;
}

void read(const Counted& in_window, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = in_window;
  if (!states.works(HookId::kMmapLock)) {
    readings.unavailable["mmap_lock"] = states.why_not(HookId::kMmapLock);
    return;
  }
  readings.mmap_lock = MmapLock{.read = side(sums, LOCK_BY_READERS), .write = side(sums, LOCK_BY_WRITERS)};
  readings.mmap_lock->holders = holders_of(sums.holders, tgid);
  if (states.works(HookId::kLockContention)) {
    readings.mmap_lock->read->slow_path = sums.totals.lock.slow_path[LOCK_BY_READERS];
    readings.mmap_lock->write->slow_path = sums.totals.lock.slow_path[LOCK_BY_WRITERS];
  } else {
    for (const char* key : {"mmap_lock.read.slow_path", "mmap_lock.write.slow_path"})
      readings.unavailable[key] = states.why_not(HookId::kLockContention);
  }
}

Losses losses(const counters& totals) {
  return {.lost = totals.threads_displaced + totals.lock.holders_lost};
}

}

Probe mmap_lock_probe() {
  return {
      .info = {"mmap_lock",
               "acquisitions of mmap_lock, contention, waits and holds, by readers and writers; who held it"},
      .hooks = {HookId::kMmapLock, HookId::kLockContention},
      .needed = HookId::kMmapLock,
      .borrows = {},
      .read = read,
      .losses = losses,
  };
}

}
