// attach on a process with more files, mappings and threads than most have: nothing is lost, and what found
// no room is counted exactly.

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "bpf/attach_contract.h"
#include "tests/cli/program.h"

using namespace iotrace::test;

namespace {

constexpr std::size_t kPage = 4096;
constexpr long kMostKib = 96 * 1024;  // that iotrace may have resident

struct Shape {
  std::size_t files, mappings, threads;
};

// What the threads of the target share. Each reads each `threads`-th page, beginning with its own.
struct Crowd {
  const std::vector<const char*>& pages;
  std::size_t threads;
  std::atomic<std::size_t> arrived{0}, done{0};
  std::atomic<bool> go{false};
};

void* take_part(void* given) {
  Crowd& crowd = *static_cast<Crowd*>(given);
  const std::size_t number = crowd.arrived++;
  crowd.go.wait(false);
  [[maybe_unused]] volatile char read;
  for (std::size_t at = number; at < crowd.pages.size(); at += crowd.threads) read = *crowd.pages[at];
  ++crowd.done;
  for (;;) ::pause();
}

// A process that maps many files, of a page each, and reads them with many threads when it is told to. They
// are not in the page cache before.
class Crowded {
public:
  Crowded(const TempFolder& folder, Shape shape) {
    for (std::size_t number = 0; number < shape.files; ++number)
      std::ofstream(folder.path() / fmt::format("{}.part", number)) << std::string(kPage, 'x');
    ::sync();
    REQUIRE((::pipe2(go_, O_CLOEXEC) == 0 && ::pipe2(told_, O_CLOEXEC) == 0));
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) run(folder, shape);
    REQUIRE(heard());
  }
  ~Crowded() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (int fd : {go_[0], go_[1], told_[0], told_[1]}) ::close(fd);
  }

  std::string pid() const { return std::to_string(pid_); }
  // Returns when all threads have read.
  void go() {
    REQUIRE(::write(go_[1], "", 1) == 1);
    REQUIRE(heard());
  }

private:
  bool heard() {
    char byte;
    return ::read(told_[0], &byte, 1) == 1;
  }

  static std::vector<const char*> map_files(const TempFolder& folder, Shape shape) {
    std::vector<const char*> pages;
    for (std::size_t number = 0; number < shape.mappings; ++number) {
      const auto path = folder.path() / fmt::format("{}.part", number % shape.files);
      const int fd = ::open(path.c_str(), O_RDONLY);
      if (number < shape.files) ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
      void* at = ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, fd, 0);
      if (fd < 0 || at == MAP_FAILED) ::_exit(1);
      ::close(fd);
      if (number < shape.files) pages.push_back(static_cast<const char*>(at));
    }
    return pages;
  }

  [[noreturn]] void run(const TempFolder& folder, Shape shape) {
    ::close(told_[0]);
    const std::vector<const char*> pages = map_files(folder, shape);
    Crowd crowd{.pages = pages, .threads = shape.threads};
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (std::size_t number = 0; number < shape.threads; ++number)
      if (pthread_t thread; pthread_create(&thread, &small, take_part, &crowd) != 0) ::_exit(2);
    while (crowd.arrived < shape.threads) ::usleep(1000);
    char byte;
    (void)!::write(told_[1], "", 1);
    (void)!::read(go_[0], &byte, 1);
    crowd.go = true;
    crowd.go.notify_all();
    while (crowd.done < shape.threads) ::usleep(1000);
    (void)!::write(told_[1], "", 1);
    for (;;) ::pause();
  }

  pid_t pid_ = -1;
  int go_[2], told_[2];
};

struct Watched {
  std::string record;  // the JSON
  std::string report;
  long peak_kib = 0;
};

Watched watch_crowd(Shape shape) {
  TempFolder folder;
  Crowded target(folder, shape);
  const auto record = folder.path() / "r.json", metrics = folder.path() / "m.prom";
  Program attach({"attach", "-p", target.pid(), "-d", "60", "-i", "1", "--max-overhead", "100%", "-o",
                  record.string(), "--textfile", metrics.string()});
  REQUIRE(wait_until([&] { return std::filesystem::exists(metrics) || attach.ended(); }));
  target.go();
  ::kill(attach.pid(), SIGINT);
  const Outcome outcome = attach.wait();
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);  // iotrace is the only child that was waited for
  std::ifstream text(record);
  return {std::string(std::istreambuf_iterator<char>(text), {}), outcome.out, used.ru_maxrss};
}

bool is_part(const nlohmann::json& file) {
  return std::string(file["path"]).ends_with(".part");
}

}

TEST_CASE("attach: 5003 files, 10007 mappings and 2003 threads are all told apart, in bounded memory") {
  need_root();
  constexpr Shape kShape{.files = 5003, .mappings = 10007, .threads = 2003};
  const auto [text, report, peak_kib] = watch_crowd(kShape);
  const auto record = nlohmann::json::parse(text);
  CHECK(peak_kib < kMostKib);
  std::set<std::string> named;
  for (const auto& file : record["files"]) {
    if (!is_part(file)) continue;
    named.insert(file["path"]);
    // Not block_io: requests for neighbours on the device are merged, and count for one of the files.
    if (file["faults"]["read"]["count"] != 1 || file["faults"]["major"] != 1 ||
        file["page_cache"]["added_pages"] != 1 || file["wasted_most_pages"] != 0 ||
        std::uint64_t(file["mapped_bytes"]) < kPage)
      FAIL_CHECK(file.dump(1));
  }
  CHECK(named.size() == kShape.files);
  std::uint64_t faults = 0;
  for (const auto& thread : record["threads"]) faults += std::uint64_t(thread["faults"]);
  CHECK(faults == kShape.files);
  CHECK(record["threads"].size() == kShape.threads);
  CHECK(record["target"]["files_left_out"] == 0);
  CHECK(record["target"]["threads_left_out"] == 0);
  CHECK(report.find(fmt::format("and {} more files", kShape.files - 20)) != std::string::npos);
  CHECK(report.find(fmt::format(".part, {} files", kShape.files)) != std::string::npos);
}

TEST_CASE("attach: files beyond the bound of the table are counted once each, and none is called quiet") {
  need_root();
  constexpr Shape kShape{.files = MOST_FILES + 13, .mappings = MOST_FILES + 13, .threads = 7};
  const Watched watched = watch_crowd(kShape);
  // Line by line: 40 MB are much for a parser that is compiled for tests.
  std::istringstream record(watched.record);
  std::size_t told = 0, quiet = 0, left_out = 0;
  bool part = false;
  for (std::string line; std::getline(record, line);) {
    if (line.starts_with("      \"path\": ")) {
      part = line.ends_with(".part\",");
      told += part;
    }
    quiet += part && line == "      \"faults\": null,";
    if (constexpr std::string_view kKey = "    \"files_left_out\": "; line.starts_with(kKey))
      left_out = std::stoul(line.substr(kKey.size()));
  }
  CHECK(quiet == 0);
  CHECK(told > 8000);
  CHECK(left_out == kShape.files - told);
  CHECK(left_out >= 13);
  CHECK(watched.report.find(fmt::format("{} files beyond the bound", left_out)) != std::string::npos);
}
