// cold: nothing of the file is cached, and memory is too small to cache it all.
//
// Readahead pulls a small file in within a second, so the window ends once the device has delivered half of
// it; what still drifts is marked by analysis/drift.h.

#include "userspace/cases/all.h"

namespace iotrace {

const Case kCold{
    .name = "cold",
    .summary = "evicted; memory limited to half the file; ends when half the file was read",
    .start = Case::Start::kEvicted,
    .residency_at_most = 0.001,
    .memory_of_file = 0.5,
    .device_share_limit = 0.5,
};

}
