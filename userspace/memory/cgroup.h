#pragma once
// A memory cgroup of the worker's own: v2 (memory.max) or v1 (memory.limit_in_bytes).

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/result.h"

namespace iotrace {

enum class CgroupVersion { kV1, kV2 };

struct CgroupHierarchy {
  CgroupVersion version;
  std::string parent;  // where iotrace's groups are made: an absolute folder
};

// The hierarchy that carries the memory controller, from /proc/self/mountinfo and /proc/self/cgroup. Its
// parent is the mount point where that may be written, since groups beside all others are bound by no
// limit but their own. On v2 it is otherwise the folder above the caller's own group, if that was delegated
// to the caller (as systemd does for users).
//   prefix  put before every path that is looked at, for tests with recorded trees
//   errors  unsupported: no memory controller mounted
Result<CgroupHierarchy> memory_cgroup_hierarchy(const std::string& prefix = "");

// Is told what is about to be made, just before, so that a guardian can remove it whatever happens.
using CgroupAnnounce = std::function<void(const std::string& path, const std::string& enabled_in)>;

// One at a time in each process: the name holds nothing but the PID.
class MemoryCgroup {
public:
  // Makes PARENT/iotrace-PID with the limit. On v2 it enables the memory controller in the parent's
  // cgroup.subtree_control if it is off, and turns it off again when the group goes, unless another iotrace
  // has a group there. A group of that name was left by a process that had our PID before: it is removed.
  //   limit_bytes  the kernel rounds it down to a page
  //   errors       unsupported: no permission (run as root), no controller; failed: limit refused
  static Result<MemoryCgroup> make(std::uint64_t limit_bytes, const CgroupAnnounce& announce = {});

  MemoryCgroup(MemoryCgroup&&) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) noexcept;
  MemoryCgroup(const MemoryCgroup&) = delete;
  ~MemoryCgroup();  // removes the group; kills what is still in it

  // Moves the process in. What it was charged for before stays with its old group.
  Status add(pid_t pid) const;
  Result<std::uint64_t> usage_bytes() const;
  std::uint64_t limit_bytes() const { return limit_bytes_; }
  CgroupVersion version() const { return version_; }
  const std::string& path() const { return path_; }
  // The subtree_control file that must lose "memory" again, or empty.
  const std::string& enabled_in() const { return enabled_in_; }

private:
  MemoryCgroup(CgroupVersion version, std::string path, std::string enabled_in, std::uint64_t limit_bytes);

  CgroupVersion version_ = CgroupVersion::kV2;
  std::string path_;
  std::string enabled_in_;
  std::uint64_t limit_bytes_ = 0;
};

// Kills whatever is in the group, waits until it is empty (10 s at most), removes it. Safe on a group that
// is gone.
//   enabled_in  the subtree_control file that loses "memory", or empty
void remove_cgroup(const char* path, const char* enabled_in);

}
