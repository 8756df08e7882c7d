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

// What was counted in one window, for whom, and by which hooks.
struct Counted {
  const Sums& sums;
  const HookStates& states;
  pid_t tgid;
};

struct Losses {
  Count lost = 0;
  Count unmatched = 0;
};

struct Probe {
  ProbeInfo info;
  std::vector<HookId> hooks;    // its own: its status tells their variants
  HookId needed;                // of them: without it there are no numbers at all
  std::vector<HookId> borrows;  // hooks of others without which some of its numbers are unavailable

  // Fills in this probe's groups of the readings, or says in `unavailable` why not.
  void (*read)(const Counted& counted, ProbeReadings& readings);
  Losses (*losses)(const counters& totals);
};

// In the order of the reports.
std::span<const Probe> probes();

// By their names; all where there are none.
//   errors  usage: an unknown name
Result<std::vector<const Probe*>> select_probes(const std::vector<std::string>& names);

Probe syscalls_probe();
Probe faults_probe();
Probe page_cache_probe();
Probe mmap_lock_probe();
Probe readahead_probe();
Probe block_io_probe();
Probe reclaim_probe();

// Hints given through io_uring, beside the system calls in `syscalls` and `madvise` of the readings.
void add_uring_hints(const Counted& counted, ProbeReadings& readings);

// Groups that stand on several probes, filled in after theirs.
//   marks_withheld  the target marks the hints that it withholds
void read_hints(const Counted& counted, bool marks_withheld, ProbeReadings& readings);
void read_time(const Counted& counted, ProbeReadings& readings);

// For what the record has a place for and no probe fills yet.
inline constexpr std::string_view kNotCounted = "not counted by this version";

}
