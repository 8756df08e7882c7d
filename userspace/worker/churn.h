#pragma once
// --mmap-churn: a thread beside the readers that maps, touches and unmaps another file, as a program does
// that opens and closes index segments. Each cycle takes mmap_lock for writing twice.
//
// The other file is a memfd: cached pages that nobody else uses, and no disk. What the thread itself costs is
// none of the readers' (struct target of bpf/contract.h; SharedBlock::churn_usage).

#include <atomic>
#include <cstdint>

#include "analysis/result.h"
#include "userspace/unique_fd.h"
#include "userspace/worker/shared_block.h"
#include "userspace/worker/window.h"

namespace iotrace {

class MmapChurn {
public:
  static constexpr std::size_t kFileBytes = 1 << 20;

  explicit MmapChurn(SharedBlock& block) : block_(block) {}

  // On the thread itself, before anything is measured: its name, its number for the probes, its file.
  //   errors   failed: no memfd, no memory
  Status prepare();

  // Through the window: order.mmap_churn cycles a second by the clock; what comes late is made up for without
  // a pause.
  //   errors   failed: mmap(2), its errno
  Status run(Window& window);

private:
  Status cycle();

  SharedBlock& block_;
  UniqueFd file_;
};

}
