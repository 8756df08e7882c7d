#include "userspace/controller/worker_process.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include <fmt/format.h>

#include "userspace/controller/interrupt.h"
#include "userspace/unique_fd.h"
#include "userspace/worker/word_wait.h"

namespace iotrace {

namespace {

constexpr int kAboveOurs = 10;  // where descriptors are parked before they move to their places

// io_uring's registered buffers count against RLIMIT_MEMLOCK, and against all that the user has locked, rings
// of workers that have just ended among them: the kernel gives those back in its own time.
void raise_memlock() {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_MEMLOCK, &limit) == 0) return;
  // Without the privilege, as far as it goes; the strategy itself reports the limit.
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_MEMLOCK, &limit);
  }
}

int open_as_user(const WorkerSpawn& spawn) {
  const std::string path =
      spawn.file_path.empty() ? fmt::format("/proc/self/fd/{}", spawn.scratch_fd) : spawn.file_path;
  // Only the scratch file is ever written to.
  const bool writes = spawn.order.write_pct > 0 && spawn.file_path.empty();
  return open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
}

// In the child, between fork and exec. The shared block carries what goes wrong.
void become_worker(const WorkerSpawn& spawn, SharedBlock& block, int block_fd, int self_fd,
                   pid_t controller) {
  raise_memlock();
  if (Status status = become(*spawn.user); !status) return block.fail(status.error().message);
  // Setting the uid forgets the parent-death signal, so it comes after; the parent may be gone by now.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != controller) return;

  UniqueFd file(open_as_user(spawn));
  if (!file) {
    std::string attempt =
        fmt::format("open {} as user {}", spawn.file_path.empty() ? "the scratch file" : spawn.file_path,
                    spawn.user->name);
    return block.fail(
        errno_error(std::move(attempt), errno, "choose another --user, or grant it to read the file")
            .message);
  }
  // To their places by way of numbers above ours, so that none is overwritten before it has moved.
  int parked[] = {fcntl(block_fd, F_DUPFD, kAboveOurs), fcntl(file.get(), F_DUPFD, kAboveOurs),
                  spawn.gate_fd < 0 ? -1 : fcntl(spawn.gate_fd, F_DUPFD, kAboveOurs),
                  spawn.ledger_fd < 0 ? -1 : fcntl(spawn.ledger_fd, F_DUPFD, kAboveOurs)};
  int self = fcntl(self_fd, F_DUPFD_CLOEXEC, kAboveOurs + 10);
  int last = kFileFd;
  for (int place = kSharedBlockFd; place <= kLedgerFd; ++place)
    if (int from = parked[place - kSharedBlockFd]; from >= 0) last = dup2(from, place);
  if (int null = open("/dev/null", O_RDWR); null >= 0)
    for (int standard : {0, 1, 2}) dup2(null, standard);
  close_range(static_cast<unsigned>(last) + 1, static_cast<unsigned>(self) - 1, 0);
  close_range(static_cast<unsigned>(self) + 1, ~0u, 0);

  char name[] = "iotrace-worker", verb[] = "worker";
  char* const arguments[] = {name, verb, nullptr};
  char* const no_environment[] = {nullptr};
  execveat(self, "", arguments, no_environment, AT_EMPTY_PATH);
  block.fail(errno_error(fmt::format("run the iotrace program as user {}", spawn.user->name), errno,
                         "make it executable for that user: chmod a+rx iotrace")
                 .message);
}

}

Result<WorkerProcess> WorkerProcess::start(const WorkerSpawn& spawn) {
  UniqueFd block_fd(memfd_create("iotrace-block", MFD_CLOEXEC));
  if (!block_fd) return errno_error("make the shared block", errno);
  const std::size_t size = SharedBlock::size_for(spawn.order.threads);
  if (ftruncate(block_fd.get(), static_cast<off_t>(size)) != 0)
    return errno_error("size the shared block", errno);
  auto memory =
      MappedRegion::map(size, PROT_READ | PROT_WRITE, MAP_SHARED, block_fd.get(), "map the shared block");
  if (!memory) return memory.error();
  auto* block = new (memory->data()) SharedBlock;
  block->order = spawn.order;

  UniqueFd self_fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!self_fd) return errno_error("open /proc/self/exe", errno, "mount /proc");

  const pid_t controller = getpid();
  const pid_t pid = fork();
  if (pid < 0) return errno_error("fork the worker", errno);
  if (pid == 0) {
    // The parent puts us into the cgroup; wait for it, so that no page is charged elsewhere.
    while (block->command.load(std::memory_order_acquire) == Command::kNone && getppid() == controller)
      wait_word(block->command, Command::kNone, std::chrono::milliseconds(100));
    become_worker(spawn, *block, block_fd.get(), self_fd.get(), controller);
    set_word(block->state, WorkerState::kFailed);
    _exit(1);
  }
  WorkerProcess worker(std::move(*memory), pid, spawn.guardian);
  if (spawn.guardian) spawn.guardian->guard_worker(pid);
  if (spawn.cgroup)
    if (Status joined = const_cast<MemoryCgroup*>(spawn.cgroup)->add(pid); !joined) return joined.error();
  set_word(block->command, Command::kStart);
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : memory_(std::move(other.memory_)), pid_(std::exchange(other.pid_, -1)), guardian_(other.guardian_) {}

WorkerProcess::~WorkerProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  reap();
}

void WorkerProcess::reap() {
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (guardian_) guardian_->clear_worker();
  pid_ = -1;
}

void WorkerProcess::order(Command command) {
  set_word(block().command, command);
}

void WorkerProcess::finish() {
  order(Command::kExit);
  reap();
}

Status WorkerProcess::died(int wait_status) const {
  const char* words = block().error.data();
  if (*words) return Error{words};
  if (WIFSIGNALED(wait_status)) {
    int signal = WTERMSIG(wait_status);
    const char* hint = signal == SIGKILL ? " (by the OOM killer of its cgroup, or by somebody's hand)" : "";
    return Error{fmt::format("the worker was killed by SIG{}{}", sigabbrev_np(signal), hint)};
  }
  return Error{fmt::format("the worker ended early with exit code {}", WEXITSTATUS(wait_status))};
}

Status WorkerProcess::wait_for(WorkerState state, std::chrono::milliseconds period,
                               const std::function<void()>& look) {
  for (;;) {
    WorkerState seen = block().state.load(std::memory_order_acquire);
    if (seen == WorkerState::kFailed) return Error{block().error.data()};
    if (seen >= state) return {};
    if (interrupted()) return Error{"interrupted"};
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_) {
      int status = 0;
      while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
      }
      Status why = died(status);
      pid_t gone = std::exchange(pid_, -1);
      static_cast<void>(gone);
      if (guardian_) guardian_->clear_worker();
      return why;
    }
    if (look) look();
    wait_word(block().state, seen, period);
  }
}

}
