#pragma once
// The tables of --stacks (bpf/log_contract.h), read and sized.

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/log_record.h"
#include "userspace/probes/bpf_object.h"
#include "userspace/probes/hooks.h"
#include "userspace/symbols/stack_names.h"

namespace iotrace {

// Before loading: gives the tables their room.
void make_room_for_stacks(const BpfObject& object);

// Whose faults have waited so far.
std::set<pid_t> processes_with_stacks(const BpfObject& object);
std::vector<CountedStack> read_stacks(const BpfObject& object);
// Puts into `unavailable` what can't be told here: all stacks, or those of the kernel.
//   returns  true: there are stacks
bool stacks_are_kept(const HookStates& states, std::map<std::string, std::string>& unavailable);
StackDrops read_stack_drops(const BpfObject& object);
void clear_stacks(const BpfObject& object);

}
