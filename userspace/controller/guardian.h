#pragma once
// A process that outlives the controller and removes what the controller could not: the worker, the memory
// cgroup, pinned memory and the scratch file, whatever killed it. It holds one end of a socket pair; the
// other end closes with the controller's death. What to remove stands in memory that both share.

#include <sys/types.h>

#include <string>

#include "analysis/result.h"
#include "userspace/mapped_region.h"
#include "userspace/unique_fd.h"

namespace iotrace {

struct GuardedThings;

class Guardian {
public:
  // Forks the guardian: a session of its own, all signals blocked, no other descriptor. Call it early,
  // before threads, open files and BPF programs, all of which it would keep.
  static Result<Guardian> start();

  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  // Lets the guardian remove what is still registered, and reaps it.
  ~Guardian();

  // Each holds one thing; a second call replaces the first.
  void guard_worker(pid_t pid);  // a child of this process, not reaped yet
  void clear_worker();
  void guard_ramhog(pid_t pid);  // likewise
  void clear_ramhog();
  void guard_cgroup(const std::string& path, const std::string& enabled_in);
  void clear_cgroup();
  //   path    absolute
  //   inode   0: about to be made, by this user; removed if it is there and still empty
  void guard_scratch(const std::string& path, dev_t device, ino_t inode);
  void clear_scratch();

  pid_t pid() const { return pid_; }

private:
  Guardian(MappedRegion memory, UniqueFd line, pid_t pid);
  GuardedThings& things() const;

  MappedRegion memory_;
  UniqueFd line_;
  pid_t pid_ = -1;
};

}
