#include "userspace/worker/churn.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "userspace/mapped_region.h"
#include "userspace/worker/sleep.h"
#include "userspace/worker/usage.h"

namespace iotrace {

Status MmapChurn::prepare() {
  prctl(PR_SET_NAME, "iotrace-churn");
  block_.churn_tid = static_cast<std::uint32_t>(gettid());
  file_.reset(memfd_create("iotrace-churn", MFD_CLOEXEC));
  if (!file_) return errno_error("make a file for --mmap-churn (memfd_create)", errno);
  const std::vector<std::byte> content(kFileBytes, std::byte{1});
  if (::write(file_.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()))
    return errno_error("fill the file for --mmap-churn", errno);
  sleep_precisely();
  return cycle();  // once outside of the window, so that what it needs is mapped
}

Status MmapChurn::cycle() {
  auto mapping =
      MappedRegion::map(kFileBytes, PROT_READ, MAP_SHARED, file_.get(), "mmap the file of --mmap-churn");
  if (!mapping) return mapping.error();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < kFileBytes; at += page)
    static_cast<void>(*static_cast<const volatile std::byte*>(mapping->data() + at));
  return {};
}

Status MmapChurn::run(Window& window) {
  const UsageMark before = thread_usage();
  const std::uint64_t start = window.line_up();
  const double gap_ns = 1e9 / block_.order.mmap_churn;
  for (std::uint64_t n = 0;; ++n) {
    const auto due = start + static_cast<std::uint64_t>(static_cast<double>(n) * gap_ns);
    for (std::uint64_t now = monotonic_ns(); now < due && !window.closed(); now = monotonic_ns())
      sleep_until(std::min(due, now + kLongestSleepNs));
    if (!window.guest_enters()) return {};
    Status done = cycle();
    if (done) ++block_.churn_done;
    block_.churn_usage = thread_usage() - before;
    window.guest_leaves();
    if (!done) return done;
  }
}

}
