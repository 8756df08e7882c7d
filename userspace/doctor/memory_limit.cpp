// Can the reader be given a memory limit of its own? By making such a group.

#include <fmt/format.h>

#include "userspace/controller/guardian.h"
#include "userspace/doctor/check.h"
#include "userspace/memory/cgroup.h"

namespace iotrace {

namespace {

// Makes a group and removes it. "" or why not.
std::string try_to_make(Guardian* guardian) {
  constexpr std::uint64_t kAnyLimitBytes = 64u << 20;
  auto group =
      MemoryCgroup::make(kAnyLimitBytes, [&](const std::string& path, const std::string& enabled_in) {
        if (guardian) guardian->guard_cgroup(path, enabled_in);
      });
  return group ? "" : group.error().message;
}

}

Answers check_memory_limit(const Surroundings& here) {
  const std::string why_not = try_to_make(here.guardian);
  if (here.guardian) here.guardian->clear_cgroup();
  constexpr const char* name = "memory limit";
  if (why_not.empty())
    return {{Grade::kOk, name,
             fmt::format("memory cgroup {}; a group can be made", here.host.cgroup.value_or(""))}};
  return {{Grade::kGap, name, why_not,
           "the case 'cold' evicts but does not limit: a file smaller than memory drifts warm while it is "
           "measured, and such rows get no verdict; --memory has no effect; pressure, half-cold and "
           "--memory-sweep pin memory instead, which needs a file larger than what the host keeps (1 GiB or "
           "10 %)"}};  // the remedy stands in the message
}

}
