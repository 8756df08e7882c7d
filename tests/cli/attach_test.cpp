// attach as a user meets it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

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

// A stopped process that has read no page of its file yet and is not about to: it has had no major fault, and
// each of its threads is in a system call.
bool waits_to_begin(pid_t pid) {
  const std::filesystem::path process = std::filesystem::path("/proc") / std::to_string(pid);
  auto stat = [&] {  // from the state on
    std::ifstream file(process / "stat");
    std::string words;
    std::getline(file, words);
    return std::istringstream(words.substr(words.rfind(')') + 1));
  };
  char state = 0;
  wait_until([&] { return !(stat() >> state) || state == 'T'; });
  std::istringstream fields = stat();
  std::uint64_t majflt = 0;
  fields >> state;
  for (int field = 4; field <= 12; ++field) fields >> majflt;
  if (!fields || state != 'T' || majflt > 0) return false;
  for (const auto& task : std::filesystem::directory_iterator(process / "task")) {
    std::ifstream call(task.path() / "syscall");
    long number = -1;
    if (!(call >> number) || number < 0) return false;
  }
  return true;
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
  says({"-p", "1", "--stacks"}, "--stacks: name a file for the record by -o");
  says({"-p", "1", "--stacks", "-o", "/tmp/x.json", "--probes", "syscalls"}, "add faults to --probes");
  says({"-p", "1", "--window", "2s"}, "--window: name a file for the record by -o");
  says({"-p", "1", "--window", "0", "-o", "/tmp/x.json"}, "--window '0'");
  says({"-p", "1", "--window", "two", "-o", "/tmp/x.json"}, "--window");
  std::string second;
  if (std::ifstream("/proc/2/comm") >> second && second == "kthreadd") says({"-p", "2"}, "kernel thread");
  const pid_t zombie = ::fork();
  if (zombie == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT);
  says({"-p", std::to_string(zombie)}, "a zombie");
  ::waitpid(zombie, nullptr, 0);
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
  for (const auto& file : written["files"])
    for (const char* group : {"faults", "page_cache", "reads", "block_io"}) CHECK(file[group].is_null());
}

TEST_CASE("attach: Ctrl-C ends it with a report, and so does the end of the target") {
  needs_root();
  TempFolder folder;
  const auto record = folder.path() / "r.json";
  const auto metrics = folder.path() / "m.prom";  // written once it watches
  auto arguments = [&](const Idle& idle) {
    return std::vector<std::string>{
        "attach",        "-p",         idle.pid(),      "-d", "60", "-i", "0.2", "-o",
        record.string(), "--textfile", metrics.string()};
  };
  {
    Idle idle;
    Program attach(arguments(idle));
    REQUIRE(wait_until([&] { return std::filesystem::exists(metrics); }));
    ::kill(attach.pid(), SIGINT);
    const Outcome outcome = attach.wait();
    CHECK(outcome.exit_code == 0);
    CHECK(record_at(record)["partial"] == true);
  }
  Idle idle;
  std::filesystem::remove(metrics);
  Program attach(arguments(idle));
  REQUIRE(wait_until([&] { return std::filesystem::exists(metrics); }));
  idle.end();
  const Outcome outcome = attach.wait();
  CHECK(outcome.exit_code == 0);
  CHECK(record_at(record)["target"]["processes"][0]["ended"] == "exited");
  CHECK(outcome.out.find("which exited") != std::string::npos);
}

TEST_CASE("attach: two of them agree with each other, and with the record of the run that they watch") {
  needs_root();
  TempFolder folder;
  // The repetitions with and without probes read the same pages of a cold file, each by a fault of its own:
  // so whichever of the two workers is watched must count what the traced one did.
  const auto own = folder.path() / "run.json";
  // A worker is stopped as soon as it is seen, until both watch it; one that has begun to read is of no use.
  std::optional<Program> run;
  pid_t worker = -1;
  for (int attempt = 0; attempt < 20; ++attempt) {
    run.emplace(std::vector<std::string>{"run", "--size", "64M", "--case", "cold", "--strategy",
                                         "mmap-random", "--threads", "1", "--ops", "60", "--reps", "1",
                                         "--probes", "paired", "--ceiling", "off", "--output", own.string()},
                RunOptions{.folder = folder.path()});
    worker = run->wait_for_worker();
    REQUIRE(worker > 0);
    ::kill(worker, SIGSTOP);
    if (waits_to_begin(worker)) break;
    ::kill(worker, SIGCONT);
    ::kill(run->pid(), SIGINT);
    run->wait();
    worker = -1;
  }
  REQUIRE(worker > 0);
  const std::vector<std::string> names{"a", "b"};
  auto file_of = [&](const std::string& name, const char* ending) { return folder.path() / (name + ending); };
  {
    auto arguments = [&](const std::string& name) {
      return std::vector<std::string>{"attach",
                                      "-p",
                                      std::to_string(worker),
                                      "-d",
                                      "60",
                                      "-i",
                                      "0.2",
                                      "--max-overhead",
                                      "100",
                                      "-o",
                                      file_of(name, ".json").string(),
                                      "--textfile",
                                      file_of(name, ".prom").string()};
    };
    Program first(arguments("a")), second(arguments("b"));
    CHECK(wait_until([&] {
      return std::filesystem::exists(file_of("a", ".prom")) && std::filesystem::exists(file_of("b", ".prom"));
    }));
    ::kill(worker, SIGCONT);
    CHECK(first.wait().exit_code == 0);
    CHECK(second.wait().exit_code == 0);
  }
  CHECK(run->wait().exit_code == 0);

  const auto ran = record_at(own);
  const auto row = std::ranges::find_if(ran["rows"], [](const auto& one) { return one["control"] == false; });
  REQUIRE(row != ran["rows"].end());
  const auto& expected = *row;
  CHECK(expected["faults"]["read"]["count"] > 100);
  for (const std::string& name : names) {
    const auto record = record_at(file_of(name, ".json"));
    const auto scratch = std::ranges::find_if(record["files"], [](const auto& file) {
      return std::string(file["path"]).find("iotrace-scratch-") != std::string::npos;
    });
    REQUIRE(scratch != record["files"].end());
    const auto& seen = *scratch;
    INFO(seen.dump(1));
    for (const char* kind : {"read", "waited", "mapped"})
      CHECK(seen["faults"][kind]["count"] == expected["faults"][kind]["count"]);
    for (const char* lock : {"under_vma_lock", "under_mmap_lock"})
      CHECK(seen["faults"][lock] == expected["faults"][lock]);
    for (const char* source : {"fault", "readahead", "hint", "read"})
      CHECK(seen["page_cache"]["by"][source] == expected["page_cache"]["by"][source]);
    CHECK(seen["page_cache"]["used_pages"] == expected["page_cache"]["used_pages"]);
    CHECK(seen["wasted_least_pages"] == 0);
    // Others read the file before the row began, too; and the completion of a last request may reach no
    // program (bpf/block_io.bpf.c).
    const std::int64_t apart = 8 + seen["page_cache"]["by"]["other"].get<std::int64_t>();
    const auto less = [&](const char* number) {
      return seen["block_io"][number].get<std::int64_t>() - expected["block_io"][number].get<std::int64_t>();
    };
    CHECK(std::abs(less("reads")) <= apart);
    CHECK(std::abs(less("read_bytes")) <= apart * sysconf(_SC_PAGESIZE));
    CHECK(seen["advice"][0]["advice"] == "RANDOM");
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
