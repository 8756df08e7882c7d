#include "userspace/probes/privilege.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace iotrace {

namespace {

struct Capability {
  int number;
  const char* name;
  bool in_sys_admin;  // the kernel lets CAP_SYS_ADMIN stand for it
};

constexpr Capability kTracing[] = {{CAP_BPF, "CAP_BPF", true}, {CAP_PERFMON, "CAP_PERFMON", true}};
constexpr Capability kAttaching[] = {{CAP_BPF, "CAP_BPF", true},
                                     {CAP_PERFMON, "CAP_PERFMON", true},
                                     {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", false},
                                     {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", false}};

// Names of those that this process does not have.
Result<std::vector<const char*>> missing(std::span<const Capability> wanted) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, data) != 0) return errno_error("read the capabilities", errno);
  auto effective = [&](int capability) {
    return (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
  };
  std::vector<const char*> names;
  for (const Capability& one : wanted)
    if (!effective(one.number) && !(one.in_sys_admin && effective(CAP_SYS_ADMIN))) names.push_back(one.name);
  return names;
}

Status need_all(std::string_view attempt, std::span<const Capability> wanted) {
  auto names = missing(wanted);
  if (!names) return names.error();
  if (names->empty()) return {};
  return unsupported(fmt::format("{}: EPERM; needs {}: run with sudo", attempt, fmt::join(*names, " and ")));
}

}

Status may_trace() {
  return need_all("load probes", kTracing);
}

Status may_attach() {
  return need_all("attach to a process", kAttaching);
}

}
