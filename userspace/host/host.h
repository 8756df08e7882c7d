#pragma once
// Facts about the machine and the file that belong into every record.

#include <string>

#include "analysis/run_record.h"

namespace iotrace {

// Never fails: what cannot be found out is nullopt or 0.
Host host_facts();

// Path, size, file system, device, the device's read-ahead, max_sectors and scheduler.
//   root   prefix of /sys and /proc, for tests with recorded trees ("" in production)
FileFacts file_facts(int fd, std::string path, const std::string& root = "");

}
