#pragma once
// The worker as the controller holds it: started, driven from state to state, ended.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "analysis/result.h"
#include "userspace/controller/guardian.h"
#include "userspace/controller/user.h"
#include "userspace/mapped_region.h"
#include "userspace/memory/cgroup.h"
#include "userspace/worker/shared_block.h"

namespace iotrace {

struct WorkerSpawn {
  Order order;
  std::string file_path;  // opened by the worker's user; empty: `scratch_fd` is opened again
  int scratch_fd = -1;
  int gate_fd = -1;    // -1: untraced
  int ledger_fd = -1;  // likewise
  const WorkerUser* user = nullptr;
  const MemoryCgroup* cgroup = nullptr;  // null: no limit of its own
  Guardian* guardian = nullptr;
};

class WorkerProcess {
public:
  // Forks, joins the cgroup, gives up root, opens the file, execs itself as the worker.
  //   errors   failed or unsupported: what kept the worker's user from opening the file or from running
  static Result<WorkerProcess> start(const WorkerSpawn& spawn);

  WorkerProcess(WorkerProcess&&) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();  // kills and reaps what still runs

  // Waits until the worker has reached `state`. `look` is called about every `period` meanwhile.
  //   errors   failed: the worker's own words, how it died, or "interrupted"
  Status wait_for(WorkerState state, std::chrono::milliseconds period, const std::function<void()>& look);
  void order(Command command);
  void stop() { block().stop.store(true); }

  // Lets the worker end by itself and reaps it.
  void finish();

  pid_t pid() const { return pid_; }
  SharedBlock& block() const { return *reinterpret_cast<SharedBlock*>(memory_.data()); }

private:
  WorkerProcess(MappedRegion memory, pid_t pid, Guardian* guardian)
      : memory_(std::move(memory)), pid_(pid), guardian_(guardian) {}
  Status died(int wait_status) const;
  void reap();

  MappedRegion memory_;
  pid_t pid_ = -1;
  Guardian* guardian_ = nullptr;
};

}
