#include "tests/programs/reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/program.h"
#include "tests/skip.h"
#include "userspace/memory/residency.h"
#include "userspace/unique_fd.h"

namespace iotrace::test {

namespace fs = std::filesystem;

namespace {

constexpr int kLongestAnswerMs = 60'000;

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}

Reader::Reader(const std::vector<std::string>& command) {
  int in[2], out[2];
  REQUIRE((pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0));
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    become(command);
  }
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

Reader::~Reader() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(input_);
  close(output_);
}

void Reader::say(const std::string& line) {
  const std::string text = line + "\n";
  REQUIRE(write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string Reader::answer() {
  std::string line;
  for (char c;;) {
    pollfd look{.fd = output_, .events = POLLIN, .revents = 0};
    REQUIRE(poll(&look, 1, kLongestAnswerMs) == 1);
    REQUIRE(read(output_, &c, 1) == 1);
    if (c == '\n') return line;
    line += c;
  }
}

std::uint64_t Reader::major_faults() const {
  std::ifstream file(fmt::format("/proc/{}/stat", pid_));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 12; ++field) rest >> skipped;  // man proc(5): majflt is field 12
  std::uint64_t count = 0;
  REQUIRE(rest >> count);
  return count;
}

void run_to_end(const std::vector<std::string>& command) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) become(command);
  int status = 0;
  waitpid(pid, &status, 0);
  INFO(command[0]);
  REQUIRE(status == 0);
}

void make_cold(const fs::path& path, double most_left) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(fd);
  REQUIRE(evict(fd.get()));
  auto left = residency(fd.get());
  REQUIRE(left);
  INFO("could not make cold " << path);
  REQUIRE(left->ratio() <= most_left);
}

WatchedReading watch_reading(Reader& watched, Reader& other, const std::string& go) {
  TempFolder folder;
  const fs::path record = folder.path() / "r.json", metrics = folder.path() / "m.prom";
  Program attach({"attach", "-p", std::to_string(watched.pid()), "-d", "120", "-i", "0.3", "--max-overhead",
                  "100", "-o", record.string(), "--textfile", metrics.string()});
  // The first text is there once it counts.
  REQUIRE(wait_until([&] { return fs::exists(metrics) || attach.ended(); }));
  WatchedReading reading;
  const std::uint64_t before = watched.major_faults();
  watched.say(go);
  other.say(go);
  reading.said = watched.answer();
  other.answer();
  reading.major = watched.major_faults() - before;
  kill(attach.pid(), SIGINT);
  const Outcome outcome = attach.wait();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  reading.report = outcome.out;
  reading.record = read_json(record);
  return reading;
}

nlohmann::json file_called(const nlohmann::json& record, const std::string& name) {
  for (const auto& file : record["files"])
    if (std::string(file["path"]).ends_with(name)) return file;
  return nullptr;
}

std::uint64_t major_faults_of_files(const nlohmann::json& record) {
  std::uint64_t sum = 0;
  for (const auto& file : record["files"])
    if (!file["faults"].is_null()) sum += std::uint64_t(file["faults"]["major"]);
  return sum;
}

void need(const fs::path& file, const std::string& package) {
  need_root();
  if (!fs::exists(file)) skip(fmt::format("package {} is not installed", package));
}

}
