// What attach's own probes cost is sampled whatever the interval, and --max-overhead holds there.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace iotrace::test;

namespace {

// A process that does nothing but system calls.
class Caller {
public:
  Caller() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) static_cast<void>(::getppid());
  }
  ~Caller() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string pid() const { return std::to_string(pid_); }

private:
  pid_t pid_;
};

// Four seconds and a half: four samples and a part of a fifth second.
nlohmann::json watched_at(const std::string& interval, const std::string& max_overhead) {
  if (::geteuid() != 0) skip("not root");
  TempFolder folder;
  const auto path = folder.path() / "r.json";
  Caller caller;
  const Outcome outcome = run_iotrace({"attach", "-p", caller.pid(), "-d", "4.5", "-i", interval, "--probes",
                                       "syscalls", "--max-overhead", max_overhead, "-o", path.string()});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out.find(" of one processor in the probes, timed for 0.") != std::string::npos);
  return read_json(path)["target"];
}

bool switched_off(const nlohmann::json& target) {
  return target["notes"].dump().find("the probe syscalls was switched off after") != std::string::npos;
}

}

TEST_CASE(
    "attach: a probe that is too dear is switched off at intervals shorter than a sample and longer than "
    "the watch") {
  for (const char* interval : {"0.1", "60"}) {
    INFO(interval);
    const nlohmann::json target = watched_at(interval, "0.001");
    CHECK(switched_off(target));
    CHECK(target["observer_cpu_ratio"] > 0.00001);
  }
}

TEST_CASE("attach: a probe that costs less than it may stays, and its cost is told") {
  const nlohmann::json target = watched_at("0.1", "100");
  CHECK_FALSE(switched_off(target));
  CHECK(target["observer_cpu_ratio"] > 0);
  CHECK(target["observer_timed_s"] > 0);
}
