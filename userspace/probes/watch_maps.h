#pragma once
// Attach's tables of files, pages and threads (bpf/attach_contract.h), read and sized.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "userspace/probes/bpf_object.h"
#include "userspace/probes/watch_set.h"

namespace iotrace {

// Before loading: gives the tables their room.
void make_room_for_attach(const BpfObject& object);

Result<std::vector<WatchedFile>> read_files(const BpfObject& object);
Result<std::vector<WatchedThread>> read_threads(const BpfObject& object);
attach_losses read_losses(const BpfObject& object);
std::set<std::uint64_t> read_left_out(const BpfObject& object);

Status add_target(const BpfObject& object, __u32 tgid);
// Those that were not asked for by the user, but forked by a target.
std::vector<pid_t> forked_targets(const BpfObject& object);

}
