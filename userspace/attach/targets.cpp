#include "userspace/attach/targets.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bpf/attach_contract.h"
#include "userspace/attach/proc.h"

namespace iotrace {

namespace {

bool has_ended(int pidfd) {
  pollfd look{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&look, 1, 0) > 0;
}

std::string asked_words(const TargetRequest& request) {
  std::vector<std::string> words;
  if (!request.pids.empty()) words.push_back(fmt::format("-p {}", fmt::join(request.pids, ",")));
  if (!request.comm.empty()) words.push_back("--comm " + request.comm);
  if (!request.cgroup.empty()) words.push_back("--cgroup " + request.cgroup);
  return fmt::format("{}", fmt::join(words, " "));
}

// The kernel keeps 15 bytes of a name (TASK_COMM_LEN).
std::vector<pid_t> processes_called(const std::string& name) {
  const std::string kept = name.substr(0, TARGET_NAME - 1);
  std::vector<pid_t> pids;
  for (pid_t pid : all_processes())
    if (auto stat = read_proc_stat(pid);
        stat && stat->name == kept && !stat->kernel_thread && pid != getpid())
      pids.push_back(pid);
  return pids;
}

std::vector<pid_t> matching(const TargetRequest& request) {
  std::vector<pid_t> pids;
  if (!request.comm.empty()) pids = processes_called(request.comm);
  if (!request.cgroup.empty())
    for (pid_t pid : processes_of_cgroup(request.cgroup).value_or(std::vector<pid_t>{}))
      if (pid != getpid()) pids.push_back(pid);
  return pids;
}

}

Result<Targets> Targets::find(const TargetRequest& request) {
  Targets targets(request);
  targets.asked_ = asked_words(request);
  for (pid_t pid : request.pids)
    if (Status added = targets.add(pid); !added) return added.error();
  if (!request.cgroup.empty() && !processes_of_cgroup(request.cgroup))
    return usage_error(
        fmt::format("no cgroup {}: name its folder, or its path as in /proc/PID/cgroup", request.cgroup));
  for (pid_t pid : matching(request)) {
    Status added = targets.add(pid);  // it may have ended meanwhile
    if (!added && added.error().kind != ErrorKind::kUsage) return added.error();
  }
  if (targets.processes_.empty()) return usage_error(fmt::format("{}: no process to watch", targets.asked_));
  return targets;
}

Status Targets::add(pid_t pid) {
  if (knows(pid)) return {};
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    // What the kernel says of a thread has changed: EINVAL, and ENOENT in 6.18.
    if (auto process = process_of_thread(pid); process && *process != pid)
      return usage_error(fmt::format("{} is a thread of process {}: name that", pid, *process));
    return usage_error(fmt::format("no process {}", pid));
  }
  const auto stat = read_proc_stat(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X' || has_ended(pidfd.get()))
    return usage_error(fmt::format("process {} has ended already (a zombie)", pid));
  if (stat->kernel_thread)
    return usage_error(
        fmt::format("{} ({}) is a kernel thread: it has no files of its own to read", pid, stat->name));
  processes_.push_back({.seen = {.pid = static_cast<std::uint32_t>(pid), .name = stat->name, .ended = {}},
                        .pidfd = std::move(pidfd),
                        .program = program_of(pid),
                        .arguments_at = stat->arguments_at});
  return {};
}

void Targets::add_child(pid_t pid) {
  static_cast<void>(add(pid));  // one that has ended already has been counted all the same
}

bool Targets::knows(pid_t pid) const {
  return std::ranges::any_of(processes_, [&](const Process& process) {
    return !process.ended && process.seen.pid == static_cast<std::uint32_t>(pid);
  });
}

std::vector<pid_t> Targets::alive() const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_)
    if (!process.ended) pids.push_back(static_cast<pid_t>(process.seen.pid));
  return pids;
}

std::vector<pid_t> Targets::look() {
  for (Process& process : processes_) {
    if (process.ended) continue;
    if (has_ended(process.pidfd.get())) {
      process.ended = true;
      process.seen.ended = "exited";
      continue;
    }
    const auto pid = static_cast<pid_t>(process.seen.pid);
    const auto stat = read_proc_stat(pid);
    if (!stat || stat->arguments_at == process.arguments_at) continue;
    process.arguments_at = stat->arguments_at;
    const std::string before = std::exchange(process.program, program_of(pid));
    notes_.push_back(
        fmt::format("{} replaced itself by exec: {} is now {}", process.seen.pid, before, process.program));
  }
  std::vector<pid_t> joined;
  for (pid_t pid : matching(request_))
    if (!knows(pid) && add(pid)) joined.push_back(pid);
  return joined;
}

std::vector<int> Targets::pidfds() const {
  std::vector<int> fds;
  for (const Process& process : processes_)
    if (!process.ended) fds.push_back(process.pidfd.get());
  return fds;
}

std::vector<WatchedProcess> Targets::processes() const {
  std::vector<WatchedProcess> seen;
  for (const Process& process : processes_) seen.push_back(process.seen);
  return seen;
}

std::vector<std::string> Targets::take_notes() {
  return std::exchange(notes_, {});
}

}
