// What else a run uses, or people ask for.

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <fmt/format.h>

#include "userspace/controller/device_bytes.h"
#include "userspace/controller/fio.h"
#include "userspace/doctor/check.h"
#include "userspace/host/mounts.h"
#include "userspace/host/text_file.h"

namespace iotrace {

Answers check_io_uring(const Surroundings&) {
  constexpr const char* name = "io_uring";
  constexpr const char* means = "rows of the io_uring strategies are errors; the others are not touched";
  // 1: for kernel.io_uring_group and CAP_SYS_ADMIN alone, which the reader does not have; 2: for nobody.
  // Linux 6.6.
  const auto disabled = read_number("/proc/sys/kernel/io_uring_disabled");
  if (disabled && *disabled != 0)
    return {{Grade::kNote, name, fmt::format("switched off (kernel.io_uring_disabled = {})", *disabled),
             means, "sysctl kernel.io_uring_disabled=0"}};
  io_uring ring{};
  if (int error = ::io_uring_queue_init(2, &ring, 0); error < 0)
    return {{Grade::kNote, name, errno_error("set up a ring", -error).message, means,
             "a container's seccomp filter refuses it by default: allow io_uring_setup there"}};
  ::io_uring_queue_exit(&ring);
  return {{Grade::kOk, name, "works"}};
}

Answers check_device_bytes(const Surroundings&) {
  auto bytes = device_read_bytes(::getpid());
  if (bytes)
    return {{Grade::kOk, "device bytes", "the kernel accounts them for each process (/proc/PID/io)"}};
  return {{Grade::kGap, "device bytes", bytes.error().message,
           "no amplification, and a cold row cannot end before it drifts warm",
           "a kernel with CONFIG_TASK_IO_ACCOUNTING"}};
}

Answers check_tracefs(const Surroundings&) {
  for (const Mount& mount : mounts())
    if (mount.fs == "tracefs")
      return {{Grade::kOk, "tracefs", fmt::format("mounted at {}; not needed here", mount.point)}};
  return {{Grade::kOk, "tracefs", "not mounted, and not needed here; perf and bpftrace want it"}};
}

Answers check_fio(const Surroundings&) {
  if (auto program = find_fio()) return {{Grade::kOk, "fio", *program}};
  return {
      {Grade::kNote, "fio", "not installed", "no second opinion on the rows (run --fio)", "apt install fio"}};
}

}
