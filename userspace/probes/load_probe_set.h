#pragma once
// ProbeSet::load() with some variants ruled out beforehand, so that tests reach the ones that this kernel
// would not choose.

#include <memory>
#include <string>
#include <vector>

#include "userspace/probes/hooks.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

//   states  with refuse() called as often as variants are to be passed over
Result<std::unique_ptr<ProbeSet>> load_probe_set(const std::vector<std::string>& names, int file_fd,
                                                 HookStates states, const Logs& logs = {});

}
