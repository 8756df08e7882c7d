#pragma once
// Runs ./iotrace as a user would and keeps what it said.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

namespace iotrace::test {

struct Outcome {
  int exit_code = -1;  // 128 + signal if it was killed
  std::string out, err;
};

struct RunOptions {
  std::filesystem::path folder;  // current folder of the program; empty: this process's own
  uid_t uid = 0;                 // who runs it; 0: whoever runs the test
  std::string input;             // its standard input
  // Run in the child before it becomes `uid` and iotrace; false gives it up, and with it the test.
  std::function<bool()> prepare = {};
};

// iotrace while it runs. ($IOTRACE_PROGRAM names another binary than ./iotrace.)
class Program {
public:
  Program(const std::vector<std::string>& arguments, const RunOptions& options = {});
  ~Program();  // kills what still runs
  Program(const Program&) = delete;

  pid_t pid() const { return pid_; }
  bool ended() const;
  // Its worker, once there is one; -1: it ended before.
  pid_t wait_for_worker() const;
  Outcome wait();

private:
  pid_t pid_ = -1;
  Outcome outcome_;
  std::thread feeder_, output_, errors_;
};

Outcome run_iotrace(const std::vector<std::string>& arguments, const RunOptions& options = {});

// True as soon as `condition` holds; false after a minute.
bool wait_until(const std::function<bool()>& condition);

// A folder of the test's own on a real file system, removed with all that is in it.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // A file of `size` bytes of a pattern, mode 0644.
  std::filesystem::path file(const std::string& name, std::size_t size) const;
  std::vector<std::string> entries() const;

private:
  std::filesystem::path path_;
};

nlohmann::json read_json(const std::filesystem::path& path);

// Processes and cgroups of the tested binary, and BPF programs of iotrace's that no process holds any more
// (asked of bpftool, where there is one). What is just going away is given some seconds to be gone.
std::vector<std::string> left_behind();

// Skips the test unless it runs as root.
void need_root();

}
