#pragma once
// A memory cgroup of the worker's own: v2 (memory.max) or v1 (memory.limit_in_bytes).

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/result.h"

namespace iotrace {

enum class CgroupVersion { kV1, kV2 };

struct CgroupHierarchy {
  CgroupVersion version;
  std::string parent;  // where iotrace's groups are made: an absolute folder
};

// The hierarchy that carries the memory controller, from /proc/self/mountinfo and /proc/self/cgroup.
// errors  unsupported: no memory controller mounted
Result<CgroupHierarchy> memory_cgroup_hierarchy();

class MemoryCgroup {
public:
  // Makes PARENT/iotrace-PID with the limit. On v2 it enables the memory controller in the parent's
  // cgroup.subtree_control if it is off, and turns it off again when the group goes.
  //   errors   unsupported: no permission (run as root), no controller; failed: exists already, limit refused
  static Result<MemoryCgroup> make(std::uint64_t limit_bytes);

  MemoryCgroup(MemoryCgroup&&) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) noexcept;
  MemoryCgroup(const MemoryCgroup&) = delete;
  ~MemoryCgroup();  // removes the group; kills what is still in it

  Status add(pid_t pid);
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

// Kills whatever is in the group, waits until it is empty, removes it. Safe on a group that is gone.
// Async-signal-unsafe, allocation-light: the guardian calls it after the controller's death.
void remove_cgroup(const char* path, const char* enabled_in);

}
