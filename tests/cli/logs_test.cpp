// --stacks and --window as a user meets them: from a program that waits to a flame graph and a timeline.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>

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

// Attaches, and has the pages touched once the first interval has been written: then iotrace surely watches.
Outcome watch(Toucher& toucher, const std::vector<std::string>& logs, const std::filesystem::path& metrics) {
  std::vector<std::string> arguments{"attach", "-p",         toucher.pid(),   "-d",
                                     "4",      "-i",         "0.3",           "--max-overhead",
                                     "100",    "--textfile", metrics.string()};
  arguments.insert(arguments.end(), logs.begin(), logs.end());
  Program attach(arguments);
  REQUIRE(wait_until([&] { return std::filesystem::exists(metrics) || attach.ended(); }));
  toucher.go();
  return attach.wait();
}

}

TEST_CASE("attach --stacks: the function that waits stands in the record and in the folded report") {
  need_root();
  TempFolder folder;
  Toucher toucher(folder.file("index", kBytes));
  const auto record = folder.path() / "r.json";
  const Outcome outcome = watch(toucher, {"--stacks", "-o", record.string()}, folder.path() / "m.prom");
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

namespace {

// What trace_check.py counts, "device=1 fault=2 hint=3 read=4", or what it objects to.
std::string checked(const std::filesystem::path& folder, const std::string& trace) {
  const auto path = folder / "trace.json";
  std::ofstream(path) << trace;
  const std::string command =
      fmt::format("python3 -B {}/tests/golden/trace_check.py {} 2>&1", IOTRACE_SOURCE_DIR, path.string());
  FILE* answer = ::popen(command.c_str(), "r");
  std::string text;
  char line[4096];
  while (answer && ::fgets(line, sizeof(line), answer)) text += line;
  if (answer) ::pclose(answer);
  return text;
}

}

TEST_CASE("attach --window: the program's faults stand on a timeline that Perfetto can draw") {
  need_root();
  TempFolder folder;
  Toucher toucher(folder.file("index", kBytes));
  const auto record = folder.path() / "r.json";
  const Outcome outcome = watch(toucher, {"--window", "3s", "-o", record.string()}, folder.path() / "m.prom");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto written = read_json(record);
  CHECK(written["totals"]["events_window_s"] == 3.0);
  CHECK(written["totals"]["events_dropped"] == 0);
  CHECK(written["totals"]["stacks"].is_null());
  std::size_t faults = 0, device_reads = 0;
  for (const auto& event : written["totals"]["events"]) {
    CHECK(std::to_string(event["pid"].get<int>()) == toucher.pid());
    if (event["file"] != (folder.path() / "index").string()) continue;
    if (event["kind"] == "fault") CHECK(event["offset_bytes"] == faults++ * 5 * 4096);
    device_reads += event["kind"] == "device";
  }
  CHECK(faults == kPages);
  CHECK(device_reads == kPages);

  const Outcome trace = run_iotrace({"report", "--format", "trace", record.string()});
  REQUIRE(trace.exit_code == 0);
  const std::string counts = checked(folder.path(), trace.out);
  INFO(counts);
  CHECK(counts.find("device=") == 0);
  CHECK(counts.find("fault=0") == std::string::npos);
  CHECK(checked(folder.path(), R"({"traceEvents":[{"ph":"X","name":"a"}]})").find("lacks") !=
        std::string::npos);
}

TEST_CASE("run --window: the first traced repetition of each row stands on a timeline") {
  need_root();
  TempFolder folder;
  const auto record = folder.path() / "r.json";
  const Outcome outcome = run_iotrace(
      {"run",       "--size",    "64M",   "--case",   "cold",   "--strategy", "mmap-random-willneed,pread",
       "--threads", "2",         "--ops", "20",       "--reps", "2",          "--probes",
       "paired",    "--ceiling", "off",   "--window", "10s",    "-o",         record.string()},
      {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  for (const auto& row : read_json(record)["rows"]) {
    if (row["control"] == true) continue;
    INFO(row["strategy"]);
    CHECK(row["events_dropped"] == 0);
    std::map<std::string, std::size_t> counts;
    for (const auto& event : row["events"]) ++counts[event["kind"]];
    const std::size_t reads = row["traced"]["reps"][0]["ops"].get<std::size_t>() * 16;
    CHECK(counts["hint"] == (row["strategy"] == "pread" ? 0 : reads));
    CHECK(counts["read"] == (row["strategy"] == "pread" ? reads : 0));
    CHECK(counts["device"] > 0);
  }
  const Outcome trace = run_iotrace({"report", "--format", "trace", record.string()});
  REQUIRE(trace.exit_code == 0);
  CHECK(checked(folder.path(), trace.out).find("device=") == 0);
}

TEST_CASE("report --format folded or trace: a record without stacks or events is a usage error") {
  TempFolder folder;
  const auto record = folder.path() / "r.json";
  std::filesystem::copy_file(std::string(IOTRACE_SOURCE_DIR) + "/tests/golden/records/cold.json", record);
  const Outcome folded = run_iotrace({"report", "--format", "folded", record.string()});
  CHECK(folded.exit_code == 2);
  CHECK(folded.err.find("measure again with --stacks") != std::string::npos);
  const Outcome trace = run_iotrace({"report", "--format", "trace", record.string()});
  CHECK(trace.exit_code == 2);
  CHECK(trace.err.find("measure again with --window") != std::string::npos);
}
