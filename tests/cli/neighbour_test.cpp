// Another process reads the same file meanwhile: the pages that it brings are `other`, and its faults, calls
// and hints are nobody's.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <new>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"

using namespace iotrace::test;
using nlohmann::json;

namespace {

constexpr std::size_t kPage = 4096, kPages = 16384;

// What the neighbour has done to the file so far; shared with it.
struct NeighbourWork {
  std::atomic<std::uint64_t> reads{0}, touches{0};
};

// Reads and touches single pages all over the file, as long as somebody else keeps some of it in the cache:
// it lets go of a file that is made cold, and comes back once that is read again.
[[noreturn]] void read_along(const std::string& path, NeighbourWork& work) {
  const int fd = open(path.c_str(), O_RDONLY);
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  std::vector<unsigned char> in_core(kPages);
  std::vector<char> page(kPage);
  for (std::size_t step = 0;; usleep(200)) {
    void* map = mmap(nullptr, kPages * kPage, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED || mincore(map, kPages * kPage, in_core.data()) != 0) _exit(1);
    std::size_t resident = 0;
    for (unsigned char present : in_core) resident += present & 1;
    if (resident > 64) {
      madvise(map, kPages * kPage, MADV_RANDOM);
      const auto* bytes = static_cast<const volatile char*>(map);
      for (int i = 0; i < 2; ++i, ++step) {
        const std::size_t at = step * 7919 % kPages;  // a prime: each page once before any comes twice
        if (step % 2 == 0) {
          if (pread(fd, page.data(), kPage, static_cast<off_t>(at * kPage)) < 0) _exit(1);
          ++work.reads;
        } else {
          static_cast<void>(bytes[at * kPage]);
          ++work.touches;
        }
      }
    }
    munmap(map, kPages * kPage);
  }
}

class Neighbour {
public:
  explicit Neighbour(const std::string& path) {
    void* shared =
        mmap(nullptr, sizeof(NeighbourWork), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    work_ = new (shared) NeighbourWork;
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) read_along(path, *work_);
  }
  ~Neighbour() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(work_, sizeof(NeighbourWork));
  }
  Neighbour(const Neighbour&) = delete;

  bool lives() const { return waitpid(child_, nullptr, WNOHANG) == 0; }
  const NeighbourWork& work() const { return *work_; }

private:
  pid_t child_ = -1;
  NeighbourWork* work_ = nullptr;
};

json run_on(const TempFolder& folder) {
  Outcome outcome = run_iotrace({"run", "--file", "data", "--case", "cold", "--threads", "1", "--reps", "1",
                                 "--ops", "43", "--seed", "7", "--strategy", "mmap-random", "-o", "run.json"},
                                {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  json row = row_of(read_json(folder.path() / "run.json"), "mmap-random");
  INFO(row.dump());
  REQUIRE(row["error"].is_null());
  REQUIRE(row["traced"]["reps"][0]["ops"] == 43);
  return row;
}

std::size_t count(const json& number) {
  return number.get<std::size_t>();
}

std::size_t faults_on_file(const json& row) {
  const json& faults = row["faults"];
  return count(faults["mapped"]["count"]) + count(faults["waited"]["count"]) + count(faults["read"]["count"]);
}

}

TEST_CASE("a neighbour's pages are other's, and its faults and calls are nobody's") {
  need_root();
  TempFolder folder;
  const auto data = folder.file("data", kPages * kPage);
  const json alone = run_on(folder);
  CHECK(alone["page_cache"]["by"]["other"] == 0);
  CHECK(alone["page_cache"]["by"]["fault"] == alone["page_cache"]["added_pages"]);

  Neighbour neighbour(data);
  const json row = run_on(folder);
  REQUIRE(neighbour.lives());
  const json& pages = row["page_cache"];
  INFO(pages.dump());
  CHECK(neighbour.work().touches > 0);
  CHECK(count(pages["by"]["other"]) > 0);
  CHECK(count(pages["by"]["other"]) <= neighbour.work().reads + neighbour.work().touches);
  CHECK(sum_of_sources(pages) == count(pages["added_pages"]));
  CHECK(pages["by"]["readahead"] == 0);
  CHECK(pages["by"]["hint"] == 0);
  CHECK(pages["by"]["read"] == 0);

  // The worker's own: one fault for each page that it brought, and all of them the kernel's number for it.
  CHECK(pages["by"]["fault"] == row["faults"]["read"]["count"]);
  CHECK(count(row["faults"]["minor"]) + count(row["faults"]["major"]) <=
        count(row["rusage"]["minor_faults"]) + count(row["rusage"]["major_faults"]));
  CHECK(faults_on_file(row) <= faults_on_file(alone));
  // One seed: it used the same pages, whoever brought them, but for the few that were there before.
  CHECK(count(pages["used_pages"]) <= count(alone["page_cache"]["used_pages"]));
  CHECK(count(pages["used_pages"]) >= count(alone["page_cache"]["used_pages"]) - kPages / 1000);
  CHECK(count(pages["used_pages"]) + count(pages["wasted_pages"]) == count(pages["added_pages"]));
  CHECK(row["madvise"].empty());
  CHECK(row["syscalls"].empty());
}
