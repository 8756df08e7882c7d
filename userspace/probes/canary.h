#pragma once
// Canaries: before anything is measured, each probe has to count a work of which the numbers are known
// (known_work.h). One that counts something else reads the wrong thing on this kernel, and is given up: its
// numbers are null from then on, with what was expected and what was seen as the reason.
//
// A new probe: one line per number in the table of canary.cpp. A probe without a line is not checked.

#include <memory>
#include <string>
#include <vector>

#include "userspace/probes/hooks.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

struct ProvenProbes {
  std::unique_ptr<ProbeSet> probes;
  // What --strict does not accept, a line each: probes that are unavailable, with what was expected and seen
  // where their canary failed, and those that could not be proven.
  std::vector<std::string> failures;
  // Of them: what works, but unproven, and why.
  std::vector<std::string> unproven;
};

// ProbeSet::load(), with the canaries. Reads, evicts and reads back in the first pages of the file (at most
// 2 MiB). About 100 ms more than load() on Linux 6.18, nearly all of it attaching and detaching; if a probe
// fails, up to three times as much, and the set is loaded again without it.
//   states  as in load_probe_set.h
//   errors  those of ProbeSet::load()
Result<ProvenProbes> load_proven(const std::vector<std::string>& names, int file_fd,
                                 HookStates states = HookStates(), const Logs& logs = {});

}
