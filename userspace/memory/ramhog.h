#pragma once
// Memory taken away by pinning it: the limit for machines without a usable memory cgroup. What is left is all
// that the page cache can have, so other programs feel it too.

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "analysis/result.h"

namespace iotrace {

class Ramhog {
public:
  // Is told the process that holds the memory as soon as there is one, so that a guardian can end it.
  using Announce = std::function<void(pid_t)>;
  // Asked about ten times a second; true gives up.
  using GiveUp = std::function<bool()>;

  // Forks a process that locks memory piece by piece, and waits until it holds all of it. It looks at what is
  // available before each piece and never lets that fall below `left_bytes`: others may take memory
  // meanwhile, and then it holds less. The process keeps no descriptor, ends with its parent, and is the
  // first that the kernel's OOM killer takes.
  //   left_bytes   >= kept_for_host()
  //   errors       unsupported: may not lock so much (CAP_IPC_LOCK or ulimit -l); failed: no memory; given up
  static Result<Ramhog> pin(std::uint64_t bytes, std::uint64_t left_bytes, const Announce& announce = {},
                            const GiveUp& give_up = {});

  Ramhog(Ramhog&&) noexcept;
  Ramhog& operator=(Ramhog&&) = delete;
  ~Ramhog();  // gives the memory back

  pid_t pid() const { return pid_; }
  std::uint64_t pinned_bytes() const { return pinned_bytes_; }

private:
  explicit Ramhog(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
  std::uint64_t pinned_bytes_ = 0;
};

}
