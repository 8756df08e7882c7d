#pragma once
// What the device can deliver, so that a row can be told from one that the page cache, or a cache below this
// machine, has served.

#include <string>
#include <vector>

#include "analysis/run_record.h"
#include "userspace/controller/repetition.h"

namespace iotrace {

struct DeviceCeiling {
  std::vector<CeilingPoint> points;
  std::optional<double> second_pass_ratio;  // nullopt: the file is too small to tell
};

// Reads the file past the page cache (O_DIRECT, io_uring) as the worker's user, with more and more reads in
// flight, at the sizes of the run's reads and at 1 MiB; then the same blocks twice. About a second.
//   errors  unsupported: the file system has no O_DIRECT, the kernel no io_uring; interrupted
Result<DeviceCeiling> measure_ceiling(const RunContext& run);

}
