// The guardian removes worker, cgroup and scratch file of a controller that was killed by -9, and nothing
// else.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/skip.h"
#include "userspace/controller/guardian.h"
#include "userspace/controller/scratch_file.h"
#include "userspace/host/text_file.h"
#include "userspace/memory/cgroup.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;

// True as soon as `holds` does; a bound, not a measure.
bool eventually(const std::function<bool()>& holds) {
  for (int attempt = 0; attempt < 3000; ++attempt) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Orphans come to this process, so that their end is seen by waitpid and not hidden by a zombie.
bool gone(pid_t pid) {
  return eventually([&] { return ::waitpid(pid, nullptr, WNOHANG) == pid || ::kill(pid, 0) != 0; });
}

// A process that does nothing, and by its exec has dropped the controller's end of the line.
pid_t sleeper() {
  pid_t pid = ::fork();
  if (pid == 0) {
    ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  return pid;
}

struct Seen {  // what the controller tells the test through a pipe
  pid_t guardian = -1;
  pid_t worker = -1;
  char cgroup[256] = {};
};

// The controller's side of a test.
struct Stage {
  Guardian& guardian;
  int pipe;
  Seen seen;

  void tell() const {
    if (::write(pipe, &seen, sizeof seen) != sizeof seen) ::_exit(1);
  }
  [[noreturn]] void tell_and_wait_for_death() const {
    tell();
    for (;;) ::pause();
  }
};

// Runs `body` in a process that stands for the controller, and returns when it has told what it made. If
// `body` returns, the controller ends in an orderly way.
class Controller {
public:
  explicit Controller(const std::function<void(Stage&)>& body) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid = ::fork();
    if (pid == 0) {
      {
        auto guardian = Guardian::start();
        if (!guardian) ::_exit(1);
        Stage stage{*guardian, ends[1], {.guardian = guardian->pid()}};
        body(stage);
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    bool told = ::read(ends[0], &seen, sizeof seen) == sizeof seen;
    ::close(ends[0]);
    REQUIRE(told);
  }
  ~Controller() {
    if (pid > 0) kill_9();
  }
  void kill_9() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = -1;
  }

  pid_t pid = -1;
  Seen seen;
};

std::string temp_file(const std::string& content) {
  std::string path = "/tmp/iotrace-guarded-XXXXXX";
  UniqueFd fd(::mkstemp(path.data()));
  REQUIRE(::write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  return path;
}

void guard_file(Guardian& guardian, const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) != 0) ::_exit(1);
  guardian.guard_scratch(path, about.st_dev, about.st_ino);
}

TEST_CASE("kill -9 of the controller takes worker, scratch file and guardian along") {
  std::string scratch = temp_file("bytes");
  Controller controller([&](Stage& stage) {
    stage.seen.worker = sleeper();
    stage.guardian.guard_worker(stage.seen.worker);
    guard_file(stage.guardian, scratch);
    stage.tell_and_wait_for_death();
  });
  REQUIRE(::kill(controller.seen.worker, 0) == 0);
  REQUIRE(fs::exists(scratch));
  controller.kill_9();
  REQUIRE(gone(controller.seen.guardian));
  REQUIRE(gone(controller.seen.worker));
  REQUIRE_FALSE(fs::exists(scratch));
}

TEST_CASE("kill -9 of the controller ends the process that pins memory") {
  Controller controller([](Stage& stage) {
    stage.seen.worker = sleeper();
    stage.guardian.guard_ramhog(stage.seen.worker);
    stage.tell_and_wait_for_death();
  });
  REQUIRE(::kill(controller.seen.worker, 0) == 0);
  controller.kill_9();
  REQUIRE(gone(controller.seen.guardian));
  REQUIRE(gone(controller.seen.worker));
}

TEST_CASE("kill -9 of the controller takes the memory cgroup along, with whoever is in it") {
  if (::geteuid() != 0 || !memory_cgroup_hierarchy()) test::skip("needs root and a memory cgroup");
  Controller controller([&](Stage& stage) {
    auto group = MemoryCgroup::make(64 << 20, [&](const std::string& path, const std::string& enabled_in) {
      stage.guardian.guard_cgroup(path, enabled_in);
    });
    if (!group) ::_exit(1);
    stage.seen.worker = sleeper();  // known to the guardian by its group alone
    if (!group->add(stage.seen.worker)) ::_exit(1);
    group->path().copy(stage.seen.cgroup, sizeof stage.seen.cgroup - 1);
    stage.tell_and_wait_for_death();
  });
  REQUIRE(fs::exists(controller.seen.cgroup));
  controller.kill_9();
  REQUIRE(gone(controller.seen.guardian));
  REQUIRE(gone(controller.seen.worker));
  REQUIRE_FALSE(fs::exists(controller.seen.cgroup));
}

TEST_CASE("kill -9 in the middle of filling leaves no scratch file") {
  std::string folder = "/tmp/iotrace-guarded-folder-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()));
  Controller controller([&](Stage& stage) {
    ScratchRequest request{.folder = folder, .size_bytes = 4 << 20, .uid = ::geteuid(), .gid = ::getegid()};
    request.announce = [&](const FileIdentity& file) {
      stage.guardian.guard_scratch(file.path, file.device, file.inode);
    };
    request.progress = [&](std::uint64_t, std::uint64_t) -> bool { stage.tell_and_wait_for_death(); };
    if (!ScratchFile::make(request)) ::_exit(1);
  });
  REQUIRE_FALSE(fs::is_empty(folder));
  controller.kill_9();
  REQUIRE(gone(controller.seen.guardian));
  REQUIRE(fs::is_empty(folder));
  fs::remove(folder);
}

TEST_CASE("a file announced but not identified goes only while it is empty") {
  std::string empty = temp_file(""), full = temp_file("bytes");
  for (const std::string& path : {empty, full}) {
    Controller controller([&](Stage& stage) {
      stage.guardian.guard_scratch(path, 0, 0);
      stage.tell_and_wait_for_death();
    });
    controller.kill_9();
    REQUIRE(gone(controller.seen.guardian));
  }
  REQUIRE_FALSE(fs::exists(empty));
  REQUIRE(fs::exists(full));
  ::unlink(full.c_str());
}

TEST_CASE("what was cleared stays") {
  std::string scratch = temp_file("a");
  Controller controller([&](Stage& stage) {
    guard_file(stage.guardian, scratch);
    stage.guardian.clear_scratch();
    stage.seen.worker = sleeper();
    stage.guardian.guard_worker(stage.seen.worker);
    stage.guardian.clear_worker();
    stage.tell_and_wait_for_death();
  });
  controller.kill_9();
  REQUIRE(gone(controller.seen.guardian));
  REQUIRE(fs::exists(scratch));
  REQUIRE(::waitpid(controller.seen.worker, nullptr, WNOHANG) == 0);  // it runs
  REQUIRE(::kill(controller.seen.worker, SIGKILL) == 0);
  REQUIRE(gone(controller.seen.worker));
  ::unlink(scratch.c_str());
}

TEST_CASE("another file that took the scratch file's name stays") {
  std::string scratch = temp_file("b");
  Controller controller([&](Stage& stage) {
    guard_file(stage.guardian, scratch);
    stage.tell_and_wait_for_death();
  });
  fs::rename(temp_file("c"), scratch);
  controller.kill_9();
  REQUIRE(gone(controller.seen.guardian));
  REQUIRE(fs::exists(scratch));
  ::unlink(scratch.c_str());
}

TEST_CASE("an orderly end waits for the guardian, which removes what is still registered") {
  std::string scratch = temp_file("bytes");
  Controller controller([&](Stage& stage) {
    guard_file(stage.guardian, scratch);
    stage.tell();
  });
  REQUIRE(::waitpid(controller.pid, nullptr, 0) == controller.pid);
  controller.pid = -1;
  REQUIRE_FALSE(fs::exists(scratch));
  REQUIRE(::kill(controller.seen.guardian, 0) != 0);  // reaped by the controller, it never came to us
}

TEST_CASE("the guardian has a name, a session of its own, one descriptor, and no ear for signals") {
  Controller controller([](Stage& stage) { stage.tell_and_wait_for_death(); });
  pid_t guardian = controller.seen.guardian;
  std::string proc = fmt::format("/proc/{}", guardian);
  REQUIRE(eventually([&] {
    auto files = fs::directory_iterator(proc + "/fd");
    return std::distance(begin(files), end(files)) == 1;
  }));
  REQUIRE(read_word(proc + "/comm") == "iotrace-guard");
  REQUIRE(fs::read_symlink(proc + "/cwd") == "/");
  REQUIRE(::getsid(guardian) == guardian);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) REQUIRE(::kill(guardian, signal) == 0);
  // All of them are pending: they arrived, and the guardian is still there.
  REQUIRE(read_text(proc + "/status")->find("ShdPnd:\t0000000000005007") != std::string::npos);
  controller.kill_9();
  REQUIRE(gone(guardian));
}

}
}
