// The cases that live by a memory limit: proven from outside, and given back whatever happens.

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"
#include "tests/skip.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace fs = std::filesystem;

namespace {

constexpr double kMiB = 1 << 20;
constexpr std::size_t kFileBytes = 256u << 20;

// The group of a running iotrace, v1 or v2; skips where there is no memory controller.
fs::path group_of(pid_t controller) {
  const std::string name = "iotrace-" + std::to_string(controller);
  for (const char* root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"})
    if (fs::exists(fs::path(root) / name)) return fs::path(root) / name;
  return {};
}

void need_memory_cgroup() {
  need_root();
  const Outcome doctor = run_iotrace({"doctor"});
  if (doctor.out.find("a group can be made") == std::string::npos) skip("no memory cgroup can be made here");
}

std::optional<double> number_in(const fs::path& file) {
  std::ifstream stream(file);
  double number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

double usage_mib(const fs::path& group) {
  for (const char* name : {"memory.usage_in_bytes", "memory.current"})
    if (auto usage = number_in(group / name)) return *usage / kMiB;
  return 0;
}

// Of all processes, since boot.
double kernel_refaults() {
  std::ifstream stream("/proc/vmstat");
  std::string name;
  for (double count = 0; stream >> name >> count;)
    if (name == "workingset_refault_file") return count;
  skip("this kernel does not count refaults of files");
}

void check_one_line(const Outcome& outcome, const std::string& says) {
  INFO("stdout: " << outcome.out << "\nstderr: " << outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err, Contains(says) && Catch::Matchers::StartsWith("iotrace: "));
}

// Takes the cgroup file systems away from this process and its children.
bool hide_cgroups() {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return false;
  std::ifstream stream("/proc/self/mountinfo");
  std::vector<std::string> points;
  for (std::string line; std::getline(stream, line);) {
    if (line.find(" - cgroup") == std::string::npos) continue;
    std::istringstream fields(line);
    std::string id, parent, device, root, point;
    fields >> id >> parent >> device >> root >> point;
    points.push_back(point);
  }
  return std::ranges::all_of(
      points, [](const std::string& point) { return umount2(point.c_str(), MNT_DETACH) == 0; });
}

// Every repetition of every row began with a share of the file between these in the cache.
void check_residency_before(const json& record, const std::string& case_name, double least, double most) {
  std::size_t repetitions = 0;
  for (const json& row : record["rows"]) {
    if (row["case"] != case_name) continue;
    INFO(row["strategy"] << ' ' << row["error"]);
    CHECK(row["error"].is_null());
    for (const char* kind : {"untraced", "traced"})
      if (!row[kind].is_null())
        for (const json& repetition : row[kind]["reps"]) {
          ++repetitions;
          CHECK(repetition["residency_before_ratio"].get<double>() >= least);
          CHECK(repetition["residency_before_ratio"].get<double>() <= most);
        }
  }
  CHECK(repetitions > 0);
}

}

TEST_CASE("bad words about memory are usage errors that name the option") {
  struct Example {
    std::vector<std::string> words;
    std::string says;
  };
  const Example examples[] = {
      {{"--memory-sweep", "abc"}, "--memory-sweep 'abc': needs two percentages"},
      {{"--memory-sweep", "200%"}, "--memory-sweep '200%': needs two percentages"},
      {{"--memory-sweep", "200:25"}, "needs two percentages of the file from 1% to 1000%"},
      {{"--memory-sweep", "200%:0%"}, "needs two percentages"},
      {{"--memory-sweep", "nan%:25%"}, "needs two percentages"},
      {{"--memory-sweep", "50%:150%"}, "goes from more memory to less"},
      {{"--memory-sweep", "50%:50%"}, "goes from more memory to less"},
      {{"--memory-sweep", "200%:25%", "--memory", "1G"}, "leave out --memory"},
      {{"--memory-sweep", "200%:25%", "--case", "cold"}, "leave out --case"},
      {{"--memory", "12Q"}, "--memory '12Q': needs a size"},
      {{"--size", "1M", "--probes", "off", "--case", "half-cold", "--memory", "1G"}, "leave out one of them"},
      {{"--size", "1M", "--probes", "off", "--case", "cold", "--memory", "1000T"}, "of this machine's"},
  };
  TempFolder folder;
  for (const Example& example : examples) {
    std::vector<std::string> words{"run"};
    words.insert(words.end(), example.words.begin(), example.words.end());
    check_one_line(run_iotrace(words, {.folder = folder.path()}), example.says);
  }
  CHECK(folder.entries().empty());
}

TEST_CASE("half-cold and pressure: of a file that others had cached, what the limit holds is resident") {
  need_memory_cgroup();
  TempFolder folder;
  // Written, and so cached, by this process: charged to its cgroup, not to the reader's.
  const fs::path file = folder.file("data", kFileBytes);
  const Outcome outcome =
      run_iotrace({"run", "--file", file, "--case", "half-cold,pressure", "--strategy", "pread,mmap-random",
                   "--threads", "1", "--reps", "2", "--ops", "23", "--seed", "7", "-o", "run.json"},
                  {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  // All of 128 MiB and 232 MiB, but for what the reader itself needs.
  check_residency_before(record, "half-cold", 0.42, 0.5);
  check_residency_before(record, "pressure", 0.8, 29.0 / 32);
  for (const json& row : record["rows"]) {
    CHECK(row["cell"]["memory_limit_bytes"] == kFileBytes / 32 * (row["case"] == "half-cold" ? 16 : 29));
    CHECK(row["drifted"] == false);
  }
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("half-cold: usage stays at the limit while it is measured, and kill -9 leaves no group") {
  need_memory_cgroup();
  TempFolder folder;
  const fs::path file = folder.file("data", kFileBytes);
  Program program({"run", "--file", file, "--case", "half-cold", "--strategy", "pread", "--threads", "1",
                   "--reps", "1", "--duration", "600"},
                  {.folder = folder.path()});
  REQUIRE(program.wait_for_worker() > 0);
  fs::path group;
  CHECK(wait_until([&] {
    group = group_of(program.pid());
    return program.ended() || usage_mib(group) >= 120;
  }));
  REQUIRE_FALSE(program.ended());
  CHECK(usage_mib(group) <= 128);
  kill(program.pid(), SIGKILL);
  program.wait();
  CHECK(left_behind() == std::vector<std::string>{});
  CHECK_FALSE(fs::exists(group));
}

TEST_CASE("half-cold: each page that comes into the cache is a refault, as the kernel counts them") {
  need_memory_cgroup();
  const double before = kernel_refaults();
  TempFolder folder;
  const Outcome outcome =
      run_iotrace({"run", "--size", "256M", "--case", "half-cold", "--strategy", "mmap-random", "--threads",
                   "1", "--reps", "1", "--ops", "101", "--seed", "7", "-o", "run.json"},
                  {.folder = folder.path()});
  REQUIRE(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  const json& traced = row_of(record, "mmap-random");
  const double added = traced["page_cache"]["added_pages"].get<double>();
  CHECK(added > 101);
  CHECK(traced["device_bytes"].get<double>() == 4096 * added);
  // The same reads three times (untraced, traced, A/A control), of which two are counted here.
  double read_again = 0;
  for (const json& row : record["rows"]) read_again += row["device_bytes"].get<double>() / 4096;
  CHECK(read_again > added);
  CHECK(kernel_refaults() - before >= read_again);
}

TEST_CASE("a file too small for its case is an error of those rows, with the size that would do") {
  need_root();
  TempFolder folder;
  const Outcome outcome =
      run_iotrace({"run", "--size", "16M", "--case", "half-cold,as-is", "--strategy", "pread", "--threads",
                   "1", "--reps", "1", "--ops", "3", "--probes", "off", "-o", "run.json"},
                  {.folder = folder.path()});
  CHECK(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  for (const json& row : record["rows"])
    if (row["case"] == "half-cold")
      CHECK_THAT(row["error"].get<std::string>(), Contains("8 MiB") && Contains("at least 128 MiB"));
    else
      CHECK(row["error"].is_null());
}

TEST_CASE("without a memory cgroup memory is to be pinned, and a file too small for that says both") {
  need_root();
  TempFolder folder;
  const Outcome outcome =
      run_iotrace({"run", "--size", "128M", "--case", "half-cold", "--strategy", "pread", "--threads", "1",
                   "--reps", "1", "--ops", "3", "--probes", "off", "-o", "run.json"},
                  {.folder = folder.path(), .prepare = hide_cgroups});
  CHECK(outcome.exit_code == 1);
  for (const json& row : read_json(folder.path() / "run.json")["rows"])
    CHECK_THAT(row["error"].get<std::string>(),
               Contains("no cgroup file system") &&
                   Contains("nor can memory be pinned instead: pin memory until 64 MiB"));
}

TEST_CASE("ramhog: what the host keeps is not taken for a small file, and nothing is pinned") {
  need_root();
  TempFolder folder;
  const Outcome outcome =
      run_iotrace({"run", "--size", "128M", "--case", "half-cold", "--ramhog", "--strategy", "pread",
                   "--threads", "1", "--reps", "1", "--ops", "3", "--probes", "off", "-o", "run.json"},
                  {.folder = folder.path()});
  CHECK(outcome.exit_code == 1);
  const json record = read_json(folder.path() / "run.json");
  CHECK(record["options"]["ramhog"] == true);
  for (const json& row : record["rows"])
    CHECK_THAT(row["error"].get<std::string>(),
               Contains("pin memory") && Contains("this machine keeps at least"));
}

namespace {

// A machine of 4 GiB that has 64 MiB more than its smallest limit to spare, as /proc/meminfo tells it; the
// real one has more, so that nothing is ever short.
std::function<bool()> on_a_small_machine(const fs::path& folder) {
  const fs::path meminfo = folder / "meminfo";
  std::ofstream(meminfo) << "MemTotal:        4194304 kB\nMemAvailable:    1114112 kB\n";
  return [meminfo] {
    return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount(meminfo.c_str(), "/proc/meminfo", nullptr, MS_BIND, nullptr) == 0;
  };
}

// Of a file of 256 MiB: 2 GiB, for which nothing is pinned there, and 1 GiB, for which 64 MiB are.
const std::vector<std::string> kPinning{"run",    "--ramhog",   "--memory-sweep", "800%:400%", "--size",
                                        "256M",   "--strategy", "pread",          "--threads", "1",
                                        "--reps", "1",          "--probes",       "off"};

// "VmLck" of the process that pins memory for this iotrace; nullopt: there is none.
std::optional<double> pinned_mib(pid_t controller) {
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    std::ifstream status(process.path() / "status");
    std::string text(std::istreambuf_iterator<char>(status), {});
    if (text.find("Name:\tiotrace-ramhog\n") == std::string::npos ||
        text.find("\nPPid:\t" + std::to_string(controller) + "\n") == std::string::npos)
      continue;
    if (auto at = text.find("VmLck:"); at != std::string::npos) return std::stod(text.substr(at + 6)) / 1024;
  }
  return std::nullopt;
}

}

TEST_CASE("ramhog: so much is pinned that the limit is left, and the record says how much") {
  need_root();
  TempFolder folder;
  auto words = kPinning;
  words.insert(words.end(), {"--ops", "23", "-o", "run.json"});
  const Outcome outcome =
      run_iotrace(words, {.folder = folder.path(), .prepare = on_a_small_machine(folder.path())});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  CHECK(record["rows"].size() == 4);
  for (const json& row : record["rows"]) {
    CHECK(row["error"].is_null());
    const bool smaller = row["cell"]["memory_of_file_ratio"] == 4.0;
    CHECK(row["cell"]["memory_limit_bytes"] == kFileBytes * (smaller ? 4 : 8));
    CHECK_THAT(row["unavailable"].value("cell.memory_limit_bytes", ""),
               Contains(smaller ? "no cgroup: 64 MiB of memory pinned" : "no cgroup: 0 B of memory pinned"));
  }
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("ramhog: kill -9 of iotrace gives the memory back") {
  need_root();
  TempFolder folder;
  auto words = kPinning;
  std::ranges::replace(words, "800%:400%", "401%:400%");  // 61 MiB for the first step, which takes its time
  words.insert(words.end(), {"--duration", "600"});
  Program program(words, {.folder = folder.path(), .prepare = on_a_small_machine(folder.path())});
  CHECK(wait_until([&] { return program.ended() || pinned_mib(program.pid()).value_or(0) > 61; }));
  REQUIRE_FALSE(program.ended());
  kill(program.pid(), SIGKILL);
  program.wait();
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("thrashing: a sweep finds the cliff, and says nothing where all of the file fits") {
  need_memory_cgroup();
  auto sweep = [](const std::string& steps) {
    TempFolder folder;
    const Outcome outcome =
        run_iotrace({"run", "--size", "256M", "--memory-sweep", steps, "--strategy", "mmap-random",
                     "--threads", "1", "--reps", "1", "--ops", "101", "--seed", "7", "-o", "run.json"},
                    {.folder = folder.path()});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return read_json(folder.path() / "run.json");
  };
  const json fits = sweep("200%:125%");
  CHECK(fits["options"]["memory_sweep"] == json{2.0, 1.5, 1.25});
  check_residency_before(fits, "pressure", 0.999, 1);
  CHECK(is_silent(fits, "thrashing"));

  const json falls = sweep("125%:50%");
  const json finding = the_finding(falls, "thrashing");
  const json& below = falls["rows"][finding["rows"][1].get<std::size_t>()];
  CHECK(finding["numbers"]["below_ratio"] == below["cell"]["memory_of_file_ratio"]);
  CHECK(below["cell"]["memory_of_file_ratio"] <= 1.0);
  CHECK(finding["numbers"]["refaults_per_op_below"].get<double>() ==
        Approx(below["page_cache"]["added_pages"].get<double>() / 101));
  CHECK(below["device_bytes"].get<double>() == 4096 * below["page_cache"]["added_pages"].get<double>());
}
