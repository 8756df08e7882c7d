#pragma once
// A file that shrinks under its mapping kills its reader with SIGBUS. The worker says so before it goes.

#include <cstddef>

#include "userspace/worker/shared_block.h"

namespace iotrace {

// From now on a SIGBUS ends the process with WorkerState::kFailed and a sentence that names the offset.
// One mapping per process.
void report_bus_errors(SharedBlock& block, const std::byte* mapping, std::size_t size);

}
