#pragma once
// A program that reads when it is told to, and an attach that watches it meanwhile.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace iotrace::test {

// Talks in lines: it is told to go on by one, and answers by one.
class Reader {
public:
  explicit Reader(const std::vector<std::string>& command);
  ~Reader();  // kills it
  Reader(const Reader&) = delete;

  pid_t pid() const { return pid_; }
  void say(const std::string& line);
  // What it says next; the test fails where it ends instead, or says nothing for a minute.
  std::string answer();
  // Of /proc/PID/stat: its threads that have ended are in it.
  std::uint64_t major_faults() const;

private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
};

// Runs to its end, which has to be a good one.
void run_to_end(const std::vector<std::string>& command);

// Takes the file out of the page cache, and proves it. What somebody has mapped stays, with the large folio
// that it is part of: at most such a share of the file.
void make_cold(const std::filesystem::path& path, double most_left = 0);

struct WatchedReading {
  nlohmann::json record;
  std::string report;       // as the terminal shows it
  std::string said;         // by the reader, when it had read
  std::uint64_t major = 0;  // faults of the reader by /proc/PID/stat, while it was watched
};

// `watched` waits to be told `go`; so does `other`, a process of the same program with files of its own,
// which nobody watches.
WatchedReading watch_reading(Reader& watched, Reader& other, const std::string& go);

// The record's entry of the file of this name, null where there is none.
nlohmann::json file_called(const nlohmann::json& record, const std::string& name);

// Major faults of all files together.
std::uint64_t major_faults_of_files(const nlohmann::json& record);

// Skips the test unless it runs as root and `file`, which this package brings, is there.
void need(const std::filesystem::path& file, const std::string& package);

}
