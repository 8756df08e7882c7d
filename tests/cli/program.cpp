#include "tests/cli/program.h"

#include <csignal>
#include <fcntl.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <utility>

#include <catch2/catch.hpp>

#include "tests/skip.h"

namespace iotrace::test {

namespace fs = std::filesystem;

namespace {

std::string binary() {
  const char* named = std::getenv("IOTRACE_PROGRAM");
  return named ? named : IOTRACE_SOURCE_DIR "/iotrace";
}

std::string drain(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

void feed(int fd, const std::string& input) {
  for (std::size_t at = 0; at < input.size();) {
    ssize_t n = write(fd, input.data() + at, input.size() - at);
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  close(fd);
}

[[noreturn]] void become_iotrace(const std::vector<std::string>& arguments, const RunOptions& options) {
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  if (options.prepare && !options.prepare()) _exit(126);
  if (options.uid != 0 && (setgid(options.uid) != 0 || setuid(options.uid) != 0)) _exit(126);
  std::vector<char*> argv{const_cast<char*>("iotrace")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  // Two seconds that only the tests of the ceiling itself need.
  const bool says = std::ranges::find(arguments, "--ceiling") != arguments.end();
  if (!says && arguments.size() > 1 && arguments[0] == "run")
    for (const char* word : {"--ceiling", "off"}) argv.push_back(const_cast<char*>(word));
  argv.push_back(nullptr);
  execv(binary().c_str(), argv.data());
  _exit(127);
}

std::string first_line(const fs::path& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<fs::path> process_folders() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry("/proc", ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    if (is_number(entry->path().filename())) found.push_back(entry->path());
  return found;
}

bool runs_the_binary(const fs::path& process) {
  std::error_code error;
  static const fs::path tested = fs::canonical(binary(), error);
  return fs::read_symlink(process / "exe", error) == tested;
}

void find_processes(std::vector<std::string>& found) {
  for (const fs::path& process : process_folders())
    if (runs_the_binary(process)) found.push_back("process " + first_line(process / "comm"));
}

void find_cgroups(std::vector<std::string>& found) {
  std::error_code ignored;
  for (const char* root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"})
    for (const auto& entry : fs::directory_iterator(root, ignored)) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("iotrace-")) continue;
      const fs::path owner = fs::path("/proc") / name.substr(name.find('-') + 1);
      if (fs::exists(owner) && !runs_the_binary(owner))
        continue;  // another iotrace's, which is still at work
      found.push_back("cgroup " + entry.path().string());
    }
}

// Numbers of the BPF programs that some process has open.
std::set<unsigned> held_programs() {
  std::set<unsigned> held;
  std::error_code ignored;
  for (const fs::path& process : process_folders())
    for (fs::directory_iterator entry(process / "fdinfo", ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
      std::ifstream stream(entry->path());
      for (std::string line; std::getline(stream, line);)
        if (line.starts_with("prog_id:")) held.insert(static_cast<unsigned>(std::stoul(line.substr(8))));
    }
  return held;
}

void find_bpf_programs(std::vector<std::string>& found) {
  std::FILE* pipe = popen("PATH=$PATH:/usr/sbin bpftool --json prog show 2>/dev/null", "r");
  if (!pipe) return;
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  const auto programs = nlohmann::json::parse(text, nullptr, false);
  if (!programs.is_array()) return;
  const std::set<unsigned> held = held_programs();
  for (const auto& program : programs) {
    const std::string name = program.value("name", "");
    if (name.starts_with("on_") && name.find("__") != std::string::npos && !held.contains(program["id"]))
      found.push_back("BPF program " + name);
  }
}

}

Program::Program(const std::vector<std::string>& arguments, const RunOptions& options) {
  int in[2], out[2], err[2];
  REQUIRE((pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0));
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    become_iotrace(arguments, options);
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  feeder_ = std::thread([fd = in[1], input = options.input] { feed(fd, input); });
  output_ = std::thread([this, fd = out[0]] { outcome_.out = drain(fd); });
  errors_ = std::thread([this, fd = err[0]] { outcome_.err = drain(fd); });
}

Program::~Program() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  wait();
}

bool Program::ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

pid_t Program::wait_for_worker() const {
  pid_t worker = -1;
  const std::string our_child = "PPid:\t" + std::to_string(pid_);
  wait_until([&] {
    if (ended()) return true;
    for (const fs::path& process : process_folders()) {
      if (first_line(process / "comm") != "iotrace-worker") continue;
      std::ifstream status(process / "status");
      for (std::string line; std::getline(status, line);)
        if (line == our_child) worker = static_cast<pid_t>(std::stoi(process.filename()));
    }
    return worker > 0;
  });
  return worker;
}

Outcome Program::wait() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  for (std::thread* thread : {&feeder_, &output_, &errors_}) thread->join();
  outcome_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return std::move(outcome_);
}

Outcome run_iotrace(const std::vector<std::string>& arguments, const RunOptions& options) {
  Outcome outcome = Program(arguments, options).wait();
  REQUIRE(outcome.exit_code != 126);
  REQUIRE(outcome.exit_code != 127);
  return outcome;
}

bool wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return condition();
}

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "iotrace-test-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
  fs::permissions(path_, fs::perms(0777));
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempFolder::file(const std::string& name, std::size_t size) const {
  fs::path path = path_ / name;
  std::ofstream stream(path, std::ios::binary);
  std::string block(64 * 1024, '\0');
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>((i * 2654435761u) >> 13);
  for (std::size_t at = 0; at < size; at += block.size())
    stream.write(block.data(), static_cast<std::streamsize>(std::min(block.size(), size - at)));
  return path;
}

std::vector<std::string> TempFolder::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
  return names;
}

nlohmann::json read_json(const fs::path& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

std::vector<std::string> left_behind() {
  std::vector<std::string> found;
  for (int i = 0; i < 100; ++i) {
    found.clear();
    find_processes(found);
    find_cgroups(found);
    find_bpf_programs(found);
    if (found.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return found;
}

void need_root() {
  if (geteuid() != 0) skip("needs root");
}

}
