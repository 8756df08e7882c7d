#pragma once
// The mounts that this process sees.

#include <cstdint>
#include <string>
#include <vector>

namespace iotrace {

struct Mount {
  std::uint64_t id = 0;  // as statx(2) gives it with STATX_MNT_ID
  std::string root;      // the folder of the file system that forms the mount's root
  std::string point;     // where it is mounted
  std::string fs;        // "ext4"
  std::string source;    // "/dev/vda1", or whatever was given to mount(2)
  std::string options;   // of the file system, not of the mount: "rw,memory"
};

// /proc/self/mountinfo in its own order; empty if there is none. Lines that don't parse are left out.
//   proc_prefix  put before /proc, for tests with recorded trees
//   source       Linux, Documentation/filesystems/proc.rst, section 3.5
std::vector<Mount> mounts(const std::string& proc_prefix = "");

}
