// --stacks as a user meets it: from a program that waits to the lines of a flame graph.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"

using namespace iotrace::test;

extern "C" __attribute__((noinline)) void iotrace_test_touches_pages(const volatile char* file, int pages) {
  for (int page = 0; page < pages; ++page) (void)file[page * 5 * 4096];
}

namespace {

constexpr int kPages = 211;
constexpr std::size_t kBytes = 8 << 20;

// A program that touches that many cold pages of a file once it is told to.
class Toucher {
public:
  explicit Toucher(const std::filesystem::path& path)
      : go_(static_cast<std::atomic<int>*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::fsync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    pid_ = ::fork();
    if (pid_ == 0) {
      auto* file = static_cast<const volatile char*>(::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0));
      ::madvise(const_cast<char*>(file), kBytes, MADV_RANDOM);
      while (*go_ == 0) ::usleep(1'000);
      iotrace_test_touches_pages(file, kPages);
      for (;;) ::pause();
    }
    ::close(fd);
  }
  ~Toucher() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(static_cast<void*>(go_), 4096);
  }
  void go() { *go_ = 1; }
  std::string pid() const { return std::to_string(pid_); }

private:
  std::atomic<int>* go_;
  pid_t pid_ = -1;
};

}

TEST_CASE("attach --stacks: the function that waits stands in the record and in the folded report") {
  need_root();
  TempFolder folder;
  Toucher toucher(folder.file("index", kBytes));
  const auto record = folder.path() / "r.json";
  Program attach({"attach", "-p", toucher.pid(), "-d", "3", "--stacks", "-o", record.string()});
  ::sleep(1);
  toucher.go();
  const Outcome outcome = attach.wait();
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto written = read_json(record);
  std::uint64_t faults = 0, wait_ns = 0;
  for (const auto& stack : written["totals"]["stacks"]) {
    const auto& user = stack["user"];
    if (std::find(user.begin(), user.end(), "iotrace_test_touches_pages") == user.end()) continue;
    faults += stack["faults"].get<std::uint64_t>();
    wait_ns += stack["wait_ns"].get<std::uint64_t>();
  }
  CHECK(faults == kPages);
  CHECK(written["totals"]["stacks_dropped"]["faults"] == 0);

  const Outcome folded = run_iotrace({"report", "--format", "folded", record.string()});
  CHECK(folded.exit_code == 0);
  std::istringstream lines(folded.out);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find(";iotrace_test_touches_pages") != std::string::npos) {
      CHECK(line.starts_with("cli_tests;"));
      sum += std::stoull(line.substr(line.rfind(' ')));
    }
  CHECK(sum == wait_ns);
  CHECK(sum > 0);
}

TEST_CASE("run --stacks: each traced row has its own") {
  need_root();
  TempFolder folder;
  const auto record = folder.path() / "r.json";
  const Outcome outcome =
      run_iotrace({"run", "--size", "64M", "--case", "cold", "--strategy", "mmap-random,pread", "--threads",
                   "1", "--ops", "20", "--reps", "1", "--ceiling", "off", "--stacks", "-o", record.string()},
                  {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  for (const auto& row : read_json(record)["rows"]) {
    if (row["control"] == true) continue;
    INFO(row["strategy"]);
    std::uint64_t faults = row["stacks_dropped"]["faults"];
    for (const auto& stack : row["stacks"]) faults += stack["faults"].get<std::uint64_t>();
    CHECK(faults == row["faults"]["read"]["count"].get<std::uint64_t>() +
                        row["faults"]["waited"]["count"].get<std::uint64_t>());
    CHECK((faults > 0) == (row["strategy"] == "mmap-random"));
  }
  const Outcome folded = run_iotrace({"report", "--format", "folded", record.string()});
  CHECK(folded.out.starts_with("mmap-random cold random T01;"));
}

TEST_CASE("report --format folded: a record without stacks is a usage error") {
  TempFolder folder;
  const auto record = folder.path() / "r.json";
  std::filesystem::copy_file(std::string(IOTRACE_SOURCE_DIR) + "/tests/golden/records/cold.json", record);
  const Outcome outcome = run_iotrace({"report", "--format", "folded", record.string()});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err.find("measure again with --stacks") != std::string::npos);
}
