#pragma once
// Bytes that a process made the device deliver: read_bytes of /proc/PID/io. Exact for cached and direct
// reads, io_uring and readahead included (kernel-facts 8); it counts at submission.

#include <sys/types.h>

#include <cstdint>

#include "analysis/result.h"

namespace iotrace {

// errors  failed or unsupported: what open(2) says; the process must be alive or at least unreaped
Result<std::uint64_t> device_read_bytes(pid_t pid);

}
