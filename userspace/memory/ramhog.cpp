#include "userspace/memory/ramhog.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "analysis/format.h"
#include "userspace/memory/host_share.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

// Small against what is always left to the host, so that a look between two pieces comes in time.
constexpr std::uint64_t kPieceBytes = 16ull << 20;
constexpr int kLookMs = 100;

// What the process says when it is done, in one write.
struct Outcome {
  std::uint64_t pinned_bytes = 0;
  int error = 0;  // errno of the mlock that failed
};

void choose_me_first() {
  UniqueFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(::write(file.get(), "1000", 4) == 4);
}

bool room_for(std::uint64_t piece, std::uint64_t left_bytes) {
  auto host = host_memory();
  return host && host->available_bytes >= left_bytes + piece;
}

Outcome take(std::uint64_t bytes, std::uint64_t left_bytes) {
  Outcome outcome;
  while (outcome.pinned_bytes < bytes) {
    const std::uint64_t piece = std::min(kPieceBytes, bytes - outcome.pinned_bytes);
    if (!room_for(piece, left_bytes)) break;
    void* memory =
        ::mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || ::mlock(memory, piece) != 0) {
      outcome.error = errno;
      break;
    }
    outcome.pinned_bytes += piece;
  }
  return outcome;
}

[[noreturn]] void hold(int line, std::uint64_t bytes, std::uint64_t left_bytes, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_NAME, "iotrace-ramhog");
  // The terminal's Ctrl-C is the controller's to answer.
  for (int signal : {SIGINT, SIGHUP}) ::signal(signal, SIG_IGN);
  // Among them the guardian's line: while we held it, it would not see the controller die.
  if (line > 0) ::close_range(0, static_cast<unsigned>(line) - 1, 0);
  ::close_range(static_cast<unsigned>(line) + 1, UINT_MAX, 0);
  choose_me_first();
  const Outcome outcome = take(bytes, left_bytes);
  if (::write(line, &outcome, sizeof outcome) != sizeof outcome) ::_exit(1);
  for (;;) ::pause();
}

Error refused(const Outcome& outcome) {
  Error error = errno_error(
      fmt::format("pin memory (mlock), after {}", human_bytes(static_cast<double>(outcome.pinned_bytes))),
      outcome.error, "run with sudo, or raise ulimit -l");
  if (outcome.error == EPERM || outcome.error == ENOMEM) error.kind = ErrorKind::kUnsupported;
  return error;
}

}

Ramhog::Ramhog(Ramhog&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pinned_bytes_(other.pinned_bytes_) {}

Ramhog::~Ramhog() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Ramhog> Ramhog::pin(std::uint64_t bytes, std::uint64_t left_bytes, const Announce& announce,
                           const GiveUp& give_up) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("make a pipe to the process that pins memory", errno);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("start the process that pins memory (fork)", errno);
  if (pid == 0) hold(theirs.get(), bytes, left_bytes, parent);
  theirs.reset();
  Ramhog hog(pid);
  if (announce) announce(pid);

  pollfd line{.fd = ours.get(), .events = POLLIN, .revents = 0};
  while (::poll(&line, 1, kLookMs) <= 0)
    if (give_up && give_up()) return Error{"interrupted"};
  Outcome outcome;
  if (::read(ours.get(), &outcome, sizeof outcome) != sizeof outcome)
    return Error{
        "pin memory: the process that pins it was killed (by the OOM killer, or by somebody's hand)"};
  if (outcome.error) return refused(outcome);
  hog.pinned_bytes_ = outcome.pinned_bytes;
  return hog;
}

}
