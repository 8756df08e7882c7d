// Whatever ends a run early: it keeps what it may keep and leaves no process, cgroup, file or BPF program.

#include <csignal>
#include <sys/types.h>

#include <set>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

// Too long to end by itself within a test.
const std::vector<std::string> kLongRun{
    "run",    "--size", "64M",        "--case", "cold", "--threads", "1", "--strategy", "pread,mmap-random",
    "--reps", "500",    "--duration", "0.1",    "-o",   "run.json"};

void wait_for_workers(const Program& program, std::size_t count) {
  std::set<pid_t> seen;
  REQUIRE(wait_until([&] {
    seen.insert(program.wait_for_worker());
    return seen.size() >= count;
  }));
  REQUIRE(!seen.contains(-1));
}

}

TEST_CASE("Ctrl-C half-way keeps a partial record and leaves nothing behind") {
  need_root();
  TempFolder folder;
  Program program(kLongRun, {.folder = folder.path()});
  wait_for_workers(program, 6);
  kill(program.pid(), SIGINT);
  Outcome outcome = program.wait();
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("interrupted"));
  json record = read_json(folder.path() / "run.json");
  CHECK(record["partial"] == true);
  std::size_t measured = 0;
  for (const json& row : record["rows"]) measured += row["error"].is_null();
  CHECK(measured >= 1);
  CHECK(folder.entries() == std::vector<std::string>{"run.json"});
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("a second Ctrl-C ends the program at once, and the guardian cleans up") {
  need_root();
  // The first one may have ended the program before the second is sent: then once more.
  int exit_code = 0;
  for (int attempt = 0; attempt < 5 && exit_code != 128 + SIGINT; ++attempt) {
    TempFolder folder;
    Program program(kLongRun, {.folder = folder.path()});
    wait_for_workers(program, 2);
    kill(program.pid(), SIGINT);
    // Sent until it is gone: one that finds the first still pending is merged with it.
    wait_until([&] {
      kill(program.pid(), SIGINT);
      return program.ended();
    });
    exit_code = program.wait().exit_code;
    CHECK(left_behind() == std::vector<std::string>{});
    for (const std::string& name : folder.entries()) {  // nothing, or a record that was complete by then
      CHECK(name == "run.json");
      CHECK(read_json(folder.path() / name)["partial"] == true);
    }
  }
  CHECK(exit_code == 128 + SIGINT);
}

TEST_CASE("kill -9 of the controller leaves no process, cgroup, scratch file or BPF program") {
  need_root();
  TempFolder folder;
  Program program(kLongRun, {.folder = folder.path()});
  wait_for_workers(program, 2);
  kill(program.pid(), SIGKILL);
  CHECK(program.wait().exit_code == 128 + SIGKILL);
  CHECK(left_behind() == std::vector<std::string>{});
  CHECK(wait_until([&] { return folder.entries().empty(); }));
}

TEST_CASE("a worker killed by hand is an error of its row; the run goes on") {
  need_root();
  TempFolder folder;
  Program program({"run", "--size", "16M", "--case", "as-is", "--threads", "1", "--strategy", "pread,mmap",
                   "--reps", "1", "--duration", "1", "-o", "run.json"},
                  {.folder = folder.path()});
  const pid_t worker = program.wait_for_worker();
  REQUIRE(worker > 0);
  kill(worker, SIGKILL);
  Outcome outcome = program.wait();
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("killed by SIGKILL"));
  std::size_t killed = 0, measured = 0;
  const json record = read_json(folder.path() / "run.json");
  for (const json& row : record["rows"]) {
    if (row["error"].is_null())
      ++measured;
    else
      killed += row["error"].get<std::string>().find("SIGKILL") != std::string::npos;
  }
  CHECK(killed == 1);
  CHECK(measured == 2);
  CHECK(left_behind() == std::vector<std::string>{});
}
