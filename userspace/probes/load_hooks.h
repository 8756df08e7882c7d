#pragma once
// Chooses a variant of every wanted hook by trying, and loads the object with the chosen ones.

#include <array>

#include "userspace/probes/attachments.h"
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

// The order matters: attachments go before the object that they hold programs of.
struct LoadedHooks {
  BpfObject object;
  HookStates states;
  std::array<Attachments, kHooks> attachments;  // for attach, of each hook that works
  bool mapping_paths = false;                   // programs may ask for the path of a mapped file
};

// The first variant whose tracepoints exist as it expects them, whose programs load, and which attaches. All
// programs are loaded in one go; only when that fails, one by one to find the one to blame.
//   states   says which hooks are wanted
//   errors   the object itself is refused: no hook works
Result<LoadedHooks> load_hooks(HookStates states, const KernelBtf& kernel, const Followed& what);

}
