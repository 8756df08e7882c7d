#include "userspace/probes/privilege.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace iotrace {

Status may_trace() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, data) != 0) return errno_error("read the capabilities", errno);
  auto effective = [&](int capability) {
    return (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
  };
  if (effective(CAP_SYS_ADMIN) || (effective(CAP_BPF) && effective(CAP_PERFMON))) return {};
  return unsupported("load probes: EPERM; needs CAP_BPF and CAP_PERFMON, run with sudo");
}

}
