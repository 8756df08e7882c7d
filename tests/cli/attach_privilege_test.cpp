// attach as an ordinary user: four capabilities do, and each is asked for by its name.

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"

using namespace iotrace::test;

namespace {

constexpr uid_t kNobody = 65534;
const std::map<std::string, int> kNeeded{{"CAP_BPF", CAP_BPF},
                                         {"CAP_PERFMON", CAP_PERFMON},
                                         {"CAP_SYS_PTRACE", CAP_SYS_PTRACE},
                                         {"CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH}};

// The calling process becomes an ordinary user, with these capabilities and no others, across an exec.
bool become_user_with(const std::map<std::string, int>& capabilities) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  for (const auto& [name, number] : capabilities) {
    auto& part = data[CAP_TO_INDEX(number)];
    part.permitted = part.effective = part.inheritable = part.permitted | CAP_TO_MASK(number);
  }
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return false;
  if (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) return false;
  if (syscall(SYS_capset, &header, data) != 0) return false;
  for (const auto& [name, number] : capabilities)
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) != 0) return false;
  return true;
}

// Reads a file by pread for as long as it lives.
class Reading {
public:
  explicit Reading(const std::filesystem::path& path) : pid_(::fork()) {
    if (pid_ != 0) return;
    const int fd = ::open(path.c_str(), O_RDONLY);
    char byte;
    for (;; ::usleep(1000)) (void)!::pread(fd, &byte, 1, 0);
  }
  ~Reading() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string pid() const { return std::to_string(pid_); }

private:
  pid_t pid_;
};

Outcome attach_with(const std::map<std::string, int>& capabilities, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "attach");
  return run_iotrace(arguments, {.prepare = [capabilities] { return become_user_with(capabilities); }});
}

}

TEST_CASE("attach: an ordinary user with four capabilities sees what another user's process reads") {
  need_root();
  TempFolder folder;
  Reading target(folder.file("read.dat", 65536));
  const auto record = folder.path() / "r.json";
  const Outcome outcome = attach_with(kNeeded, {"-p", target.pid(), "-d", "1", "-o", record.string()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto written = read_json(record);
  for (const auto& probe : written["totals"]["probes"]) CHECK_FALSE(probe["variant"].is_null());
  const auto file = std::ranges::find_if(
      written["files"], [](const auto& one) { return std::string(one["path"]).ends_with("/read.dat"); });
  REQUIRE(file != written["files"].end());
  CHECK((*file)["reads"]["calls"] > 10);
  // The kernel times programs for CAP_SYS_ADMIN alone: then the cost is unknown, and not 0.
  CHECK(written["target"]["observer_cpu_ratio"].is_null());
  CHECK(written["target"]["notes"].dump().find("CAP_SYS_ADMIN") != std::string::npos);
}

TEST_CASE("attach: a capability that is missing is named, and no other") {
  need_root();
  for (const auto& [left_out, number] : kNeeded) {
    auto capabilities = kNeeded;
    capabilities.erase(left_out);
    const Outcome outcome = attach_with(capabilities, {"-p", std::to_string(::getpid()), "-d", "1"});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 3);
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
    for (const auto& [name, other] : kNeeded)
      CHECK((outcome.err.find(name) != std::string::npos) == (name == left_out));
  }
}
