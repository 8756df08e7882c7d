#include "userspace/controller/guardian.h"

#include <linux/limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <new>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "userspace/controller/scratch_file.h"
#include "userspace/host/text_file.h"
#include "userspace/memory/cgroup.h"

namespace iotrace {

// Every thing has its flag, set after the rest of it is written and cleared before it changes: the controller
// may die between any two of its instructions.
struct GuardedThings {
  struct Process {
    std::atomic<bool> armed = false;
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
  } worker, ramhog;
  struct Cgroup {
    std::atomic<bool> armed = false;
    char path[PATH_MAX] = {};
    char enabled_in[PATH_MAX] = {};
  } cgroup;
  struct Scratch {
    std::atomic<bool> armed = false;
    char path[PATH_MAX] = {};
    dev_t device = 0;
    ino_t inode = 0;
  } scratch;
};
static_assert(std::atomic<bool>::is_always_lock_free, "shared between processes");

namespace {

constexpr int kStartTimeField = 22;  // of /proc/PID/stat, see proc(5); the name in field 2 may hold blanks

// When the process began, in clock ticks since boot: with it a PID names one process for good.
std::optional<std::uint64_t> start_ticks(pid_t pid) {
  auto text = read_text(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < kStartTimeField; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  return fields >> ticks ? std::optional(ticks) : std::nullopt;
}

// The kernel takes no longer path either, so nothing that exists is cut off.
template<std::size_t kSize> void copy_path(const std::string& path, char (&to)[kSize]) {
  std::size_t length = std::min(path.size(), kSize - 1);
  path.copy(to, length);
  to[length] = '\0';
}

// By a pidfd, which no other process can slip under. (The header of glibc 2.36 is not fit for C++.)
void end_process(const GuardedThings::Process& guarded) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, guarded.pid, 0u)));
  if (process && start_ticks(guarded.pid) == guarded.start_ticks)
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0u);
}

void remove_scratch(const GuardedThings::Scratch& scratch) {
  if (scratch.inode != 0) {
    unlink_if_same(scratch.path, scratch.device, scratch.inode);
    return;
  }
  struct stat about = {};
  bool just_made = ::lstat(scratch.path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0 &&
                   about.st_uid == ::geteuid();
  if (just_made) ::unlink(scratch.path);
}

[[noreturn]] void guard(int line, const GuardedThings& things) {
  ::setsid();
  ::prctl(PR_SET_NAME, "iotrace-guard");
  if (::chdir("/") != 0) ::_exit(1);  // else the controller's folder could not be unmounted
  // Its output too: who reads iotrace's pipe waits for its last holder.
  if (line > 0) ::close_range(0, static_cast<unsigned>(line) - 1, 0);
  ::close_range(static_cast<unsigned>(line) + 1, UINT_MAX, 0);

  char nothing = 0;
  while (::read(line, &nothing, 1) < 0 && errno == EINTR) {
  }
  if (things.worker.armed) end_process(things.worker);
  if (things.ramhog.armed) end_process(things.ramhog);
  if (things.cgroup.armed) remove_cgroup(things.cgroup.path, things.cgroup.enabled_in);
  if (things.scratch.armed) remove_scratch(things.scratch);
  ::_exit(0);
}

}

Guardian::Guardian(MappedRegion memory, UniqueFd line, pid_t pid)
    : memory_(std::move(memory)), line_(std::move(line)), pid_(pid) {}

Guardian::Guardian(Guardian&& other) noexcept
    : memory_(std::move(other.memory_)), line_(std::move(other.line_)), pid_(std::exchange(other.pid_, -1)) {}

Guardian::~Guardian() {
  if (pid_ < 0) return;
  // Not close: a copy of this end in some child would keep the guardian waiting.
  ::shutdown(line_.get(), SHUT_RDWR);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Guardian> Guardian::start() {
  auto memory = MappedRegion::map(sizeof(GuardedThings), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                  -1, "map the memory shared with the guardian");
  if (!memory) return memory.error();
  const auto* things = new (memory->data()) GuardedThings;
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return errno_error("make the guardian's socket pair", errno);
  UniqueFd line(ends[0]), guardian_line(ends[1]);

  // Blocked before the fork: a Ctrl-C that comes between would end the guardian.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  pid_t pid = ::fork();
  int error = errno;
  if (pid == 0) guard(guardian_line.get(), *things);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return errno_error("start the guardian (fork)", error);
  return Guardian(std::move(*memory), std::move(line), pid);
}

GuardedThings& Guardian::things() const {
  return *reinterpret_cast<GuardedThings*>(memory_.data());
}

namespace {

void arm(GuardedThings::Process& process, pid_t pid) {
  process.armed = false;
  auto ticks = start_ticks(pid);
  if (!ticks) return;  // gone already
  process.pid = pid;
  process.start_ticks = *ticks;
  process.armed = true;
}

}

void Guardian::guard_worker(pid_t pid) {
  arm(things().worker, pid);
}

void Guardian::guard_ramhog(pid_t pid) {
  arm(things().ramhog, pid);
}

void Guardian::guard_cgroup(const std::string& path, const std::string& enabled_in) {
  auto& cgroup = things().cgroup;
  cgroup.armed = false;
  copy_path(path, cgroup.path);
  copy_path(enabled_in, cgroup.enabled_in);
  cgroup.armed = true;
}

void Guardian::guard_scratch(const std::string& path, dev_t device, ino_t inode) {
  auto& scratch = things().scratch;
  scratch.armed = false;
  copy_path(path, scratch.path);
  scratch.device = device;
  scratch.inode = inode;
  scratch.armed = true;
}

void Guardian::clear_worker() {
  things().worker.armed = false;
}
void Guardian::clear_ramhog() {
  things().ramhog.armed = false;
}
void Guardian::clear_cgroup() {
  things().cgroup.armed = false;
}
void Guardian::clear_scratch() {
  things().scratch.armed = false;
}

}
