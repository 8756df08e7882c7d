#pragma once
// Chooses a variant of every wanted hook by trying, and loads the object with the chosen ones.

#include "userspace/probes/bpf_object.h"
#include "userspace/probes/hooks.h"
#include "userspace/probes/kernel_btf.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

// What the programs follow: one file, or whatever files many targets use.
struct Followed {
  int file_fd = -1;
  bool many = false;
  Logs logs = {};
};

struct LoadedHooks {
  BpfObject object;
  HookStates states;
};

// The first variant whose tracepoints exist as it expects them, whose programs load, and which attaches. All
// programs are loaded in one go; only when that fails, one by one to find the one to blame.
//   states   says which hooks are wanted
//   errors   the object itself is refused: no hook works
Result<LoadedHooks> load_hooks(HookStates states, const KernelBtf& kernel, const Followed& what);

}
