#pragma once
// Runs ./iotrace as a user would and keeps what it said.

#include <sys/types.h>

#include <filesystem>
#include <string>
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
};

Outcome run_iotrace(const std::vector<std::string>& arguments, const RunOptions& options = {});

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

// Names of cgroups, processes and BPF programs of iotrace's that are still there.
std::vector<std::string> left_behind();

}
