#include "tests/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>

namespace iotrace::test {

namespace fs = std::filesystem;

namespace {

std::string drain(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

}

Outcome run_iotrace(const std::vector<std::string>& arguments, const RunOptions& options) {
  int in[2], out[2], err[2];
  REQUIRE((pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0));
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
    if (options.uid != 0 && (setgid(options.uid) != 0 || setuid(options.uid) != 0)) _exit(126);
    std::vector<char*> argv{const_cast<char*>("iotrace")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(IOTRACE_SOURCE_DIR "/iotrace", argv.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  Outcome outcome;
  std::thread feeder([&] {
    for (std::size_t at = 0; at < options.input.size();) {
      ssize_t n = write(in[1], options.input.data() + at, options.input.size() - at);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    close(in[1]);
  });
  std::thread errors([&] { outcome.err = drain(err[0]); });
  outcome.out = drain(out[0]);
  errors.join();
  feeder.join();
  int status = 0;
  waitpid(pid, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  REQUIRE(outcome.exit_code != 127);
  return outcome;
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
  std::error_code ignored;
  for (const char* root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"})
    for (const auto& entry : fs::directory_iterator(root, ignored))
      if (entry.path().filename().string().starts_with("iotrace-")) found.push_back("cgroup " + entry.path().string());
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream comm(entry.path() / "comm");
    std::string name;
    if (std::getline(comm, name) && name.starts_with("iotrace")) found.push_back("process " + name);
  }
  return found;
}

}
