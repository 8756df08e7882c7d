#pragma once
// One probe as the rest of the program sees it: its name, the hooks it stands on, and how its counters become
// groups of the record. Copy mmap_lock.cpp to start a new one; it gets one line in registry.cpp.

#include <span>
#include <string_view>
#include <vector>

#include "userspace/probes/hooks.h"
#include "userspace/probes/probe_set.h"
#include "userspace/probes/sums.h"

namespace iotrace {

struct Losses {
  Count lost = 0;
  Count unmatched = 0;
};

struct Probe {
  ProbeInfo info;
  std::vector<HookId> hooks;    // its own: its status tells their variants
  std::vector<HookId> borrows;  // hooks of others without which some of its numbers are unavailable

  // Fills in this probe's groups of the readings, or says in `unavailable` why not.
  void (*read)(const Sums& sums, const HookStates& states, ProbeReadings& readings);
  Losses (*losses)(const counters& totals);
};

// In the order of the reports.
std::span<const Probe> probes();

Probe syscalls_probe();
Probe faults_probe();
Probe page_cache_probe();
Probe mmap_lock_probe();

// For what the record has a place for and no probe fills yet.
inline constexpr std::string_view kNotCounted = "not counted by this version";

}
