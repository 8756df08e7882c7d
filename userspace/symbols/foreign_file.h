#pragma once
// Files of another process, opened as it sees them. What lies there is the target's: nothing but regular
// files is opened, and its symbolic links don't lead out of its root.

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "userspace/symbols/process_symbols.h"
#include "userspace/unique_fd.h"

namespace iotrace {

// The file that it maps there, deleted or not; of a process that has ended, the one of the same name if it
// is still the same file. Empty: it can't be had.
UniqueFd open_mapped_file(pid_t pid, const MappedPart& part);

// perf-PID.map in its /tmp, by its own number of itself; "" without one.
//   most_bytes  what is beyond is left out
std::string read_perf_map(pid_t pid, std::size_t most_bytes);

}
