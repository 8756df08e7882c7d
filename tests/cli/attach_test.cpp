// attach as a user meets it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace iotrace::test;

namespace {

// A process that does nothing.
class Idle {
public:
  Idle() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~Idle() { end(); }
  void end() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  std::string pid() const { return std::to_string(pid_); }

private:
  pid_t pid_;
};

nlohmann::json record_at(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

void needs_root() {
  if (::geteuid() != 0) skip("not root");
}

}

TEST_CASE("attach: whom to watch and how is checked first") {
  auto says = [](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin(), "attach");
    const Outcome outcome = run_iotrace(arguments);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err.find(words) != std::string::npos);
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
  };
  says({}, "attach to whom?");
  says({"-p", "abc"}, "-p abc");
  says({"-p", "4194000"}, "no process 4194000");
  says({"-p", "1", "-d", "-1"}, "-d:");
  says({"-p", "1", "-i", "0"}, "-i:");
  says({"-p", "1", "--top", "0"}, "--top");
  says({"-p", "1", "--textfile", "/no/such/folder/x.prom"}, "/no/such/folder");
  says({"-p", "1", "-o", "/no/such/folder/x.json"}, "/no/such/folder");
  says({"--comm", "no-such-name"}, "no process to watch");
}

TEST_CASE("attach: an idle process is quiet") {
  needs_root();
  TempFolder folder;
  Idle idle;
  const auto record = folder.path() / "idle.json";
  const Outcome outcome = run_iotrace({"attach", "-p", idle.pid(), "-d", "1", "-o", record.string()});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.find("nothing waited") != std::string::npos);
  const auto written = record_at(record);
  CHECK(written["command"] == "attach");
  CHECK(written["findings"].empty());
  CHECK(written["partial"] == false);
  CHECK(written["totals"]["faults"]["read"]["count"] == 0);
  CHECK(written["threads"].empty());
}

TEST_CASE("attach: Ctrl-C ends it with a report, and so does the end of the target") {
  needs_root();
  TempFolder folder;
  const auto record = folder.path() / "r.json";
  {
    Idle idle;
    Program attach({"attach", "-p", idle.pid(), "-d", "60", "-i", "0.2", "-o", record.string()});
    ::sleep(2);
    ::kill(attach.pid(), SIGINT);
    const Outcome outcome = attach.wait();
    CHECK(outcome.exit_code == 0);
    CHECK(record_at(record)["partial"] == true);
  }
  Idle idle;
  Program attach({"attach", "-p", idle.pid(), "-d", "60", "-i", "0.2", "-o", record.string()});
  ::sleep(2);
  idle.end();
  const Outcome outcome = attach.wait();
  CHECK(outcome.exit_code == 0);
  CHECK(record_at(record)["target"]["processes"][0]["ended"] == "exited");
  CHECK(outcome.out.find("which exited") != std::string::npos);
}

TEST_CASE("attach: two of them, and iotrace's own worker, agree on its counts") {
  needs_root();
  TempFolder folder;
  Program run({"run", "--size", "64M", "--case", "cold", "--strategy", "mmap-random", "--threads", "1",
               "--reps", "1", "--duration", "8", "--probes", "off"},
              {.folder = folder.path()});
  const pid_t worker = run.wait_for_worker();
  REQUIRE(worker > 0);
  std::vector<std::filesystem::path> records{folder.path() / "a.json", folder.path() / "b.json"};
  {
    Program first({"attach", "-p", std::to_string(worker), "-d", "30", "-o", records[0].string()});
    Program second({"attach", "-p", std::to_string(worker), "-d", "30", "-o", records[1].string()});
    CHECK(first.wait().exit_code == 0);
    CHECK(second.wait().exit_code == 0);
  }
  CHECK(run.wait().exit_code == 0);
  for (const auto& path : records) {
    const auto record = record_at(path);
    const auto& files = record["files"];
    const auto scratch = std::ranges::find_if(files, [](const auto& file) {
      return std::string(file["path"]).find("iotrace-scratch-") != std::string::npos;
    });
    REQUIRE(scratch != files.end());
    const auto& counts = *scratch;
    const std::uint64_t read = counts["faults"]["read"]["count"];
    CHECK(read > 100);
    CHECK(counts["page_cache"]["by"]["fault"] == read);
    CHECK(counts["block_io"]["reads"] == read);
    CHECK(counts["advice"][0]["advice"] == "RANDOM");
  }
}

TEST_CASE("attach: without privilege it says what is missing") {
  needs_root();
  Idle idle;
  const Outcome outcome = run_iotrace({"attach", "-p", idle.pid(), "-d", "1"}, {.uid = 65534});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err.find("CAP_BPF") != std::string::npos);
}
