#pragma once
// The processes that attach watches: found by number, name or cgroup, held by a pidfd each, so that a number
// that is used again is not mistaken for them. Nothing here touches a process beyond reading /proc.

#include <sys/types.h>

#include <string>
#include <vector>

#include "analysis/attach_record.h"
#include "analysis/result.h"
#include "userspace/unique_fd.h"

namespace iotrace {

struct TargetRequest {
  std::vector<pid_t> pids;
  std::string comm;    // every process of this name
  std::string cgroup;  // every process in it and below
};

class Targets {
public:
  //   errors   usage: no such process, a kernel thread, a zombie, nothing of that name, no such cgroup
  static Result<Targets> find(const TargetRequest& request);

  // How the user asked for them: "-p 4711".
  const std::string& asked() const { return asked_; }
  // Those that have not ended.
  std::vector<pid_t> alive() const;
  bool all_ended() const { return alive().empty(); }

  // Looks who ended or was replaced by exec since the last time, and who joined by name or cgroup.
  //   returns  the new ones
  std::vector<pid_t> look();
  // A child that the kernel reported.
  void add_child(pid_t pid);

  // Descriptors that become readable when a process ends.
  std::vector<int> pidfds() const;
  std::vector<WatchedProcess> processes() const;
  // What happened to them, in words: "4711 was replaced by exec: sh is now java".
  std::vector<std::string> take_notes();

private:
  struct Process {
    WatchedProcess seen;
    UniqueFd pidfd;
    std::string program;  // what /proc/PID/exe names
    unsigned long long arguments_at = 0;
    bool ended = false;
  };

  explicit Targets(TargetRequest request) : request_(std::move(request)) {}
  Status add(pid_t pid);
  bool knows(pid_t pid) const;

  TargetRequest request_;
  std::string asked_;
  std::vector<Process> processes_;
  std::vector<std::string> notes_;
};

}
