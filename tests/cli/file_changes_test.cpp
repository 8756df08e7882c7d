// The file that is measured belongs to somebody: it is cut, deleted, replaced, written and read meanwhile.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr std::size_t kBytes = 32u << 20;

std::vector<std::string> run_on_data(const std::string& cases, const std::string& strategies,
                                     const std::string& duration) {
  return {"run",        "--probes",   "off",       "--file", "data",    "--case", cases,
          "--strategy", strategies,   "--threads", "1",      "--reps",  "2",      "--user",
          "0",          "--duration", duration,    "-o",     "run.json"};
}

// Runs on FOLDER/data, does something to it while the first worker reads, and says how that ended.
struct Changed {
  Outcome outcome;
  json rows;
};
template<typename Change> Changed run_and_change(const std::string& strategies, Change change) {
  TempFolder folder;
  const auto data = folder.file("data", kBytes);
  Program program(run_on_data("as-is", strategies, "1"), {.folder = folder.path()});
  REQUIRE(program.wait_for_worker() > 0);
  usleep(100'000);  // into the window, most likely; the outcome is the same if not
  change(data);
  Changed changed{.outcome = program.wait()};
  changed.rows = read_json(folder.path() / "run.json")["rows"];
  CHECK(left_behind() == std::vector<std::string>{});
  return changed;
}

// Every row says so, the report shows it, and the run has failed: nothing was measured on one file.
void check_all_rows_say(const Changed& changed, const std::string& what) {
  INFO(changed.outcome.out << changed.outcome.err);
  CHECK(changed.outcome.exit_code == 1);
  CHECK_THAT(changed.outcome.err, Contains("no row could be measured"));
  CHECK_THAT(changed.outcome.out, Contains(what));
  for (const json& row : changed.rows) {
    REQUIRE(row["error"].is_string());
    CHECK_THAT(row["error"].get<std::string>(), Contains(what));
  }
}

// A child process that does `work`, signals that it is ready, and lives until this object ends.
class Neighbour {
public:
  template<typename Work> explicit Neighbour(Work work) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      work([&] { return write(ready[1], "r", 1) == 1; });
      for (;;) pause();
    }
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Neighbour() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;

private:
  pid_t pid_ = -1;
};

}

TEST_CASE("a file that is cut while it is mapped is an error of each row, not a crash") {
  need_root();
  Changed changed =
      run_and_change("mmap", [](const auto& data) { std::filesystem::resize_file(data, 4096); });
  check_all_rows_say(changed, "was cut from 33554432 to 4096 bytes");
  std::size_t bus_errors = 0;
  for (const json& row : changed.rows)
    bus_errors += row["error"].get<std::string>().find("SIGBUS while reading the mapped file at offset") !=
                  std::string::npos;
  CHECK(bus_errors == 1);  // the row that was at it; those after it were not begun
}

TEST_CASE("a file that is cut while it is read by pread is an error of each row") {
  need_root();
  check_all_rows_say(
      run_and_change("pread", [](const auto& data) { std::filesystem::resize_file(data, 4096); }),
      "was cut from 33554432 to 4096 bytes");
}

TEST_CASE("a file that grows is an error of each row") {
  need_root();
  check_all_rows_say(
      run_and_change("mmap,pread", [](const auto& data) { std::filesystem::resize_file(data, kBytes + 1); }),
      "has grown from 33554432 to 33554433 bytes");
}

TEST_CASE("a file that is deleted is an error of each row") {
  need_root();
  check_all_rows_say(run_and_change("mmap,pread", [](const auto& data) { std::filesystem::remove(data); }),
                     "was deleted or moved away while it was measured");
}

TEST_CASE("a file that is replaced by one of the same size is an error of each row") {
  need_root();
  check_all_rows_say(run_and_change("mmap,pread",
                                    [](const auto& data) {
                                      std::filesystem::copy_file(data, data.string() + ".new");
                                      std::filesystem::rename(data.string() + ".new", data);
                                    }),
                     "was replaced by another file while it was measured");
}

TEST_CASE("a file that is written to is an error of each row") {
  need_root();
  check_all_rows_say(run_and_change("mmap,pread",
                                    [](const auto& data) {
                                      std::fstream stream(data,
                                                          std::ios::in | std::ios::out | std::ios::binary);
                                      stream << "changed";
                                    }),
                     "was written to while it was measured");
}

TEST_CASE("a neighbour's mapping keeps pages resident: cold is refused, and the other cases are measured") {
  need_root();
  TempFolder folder;
  const auto data = folder.file("data", kBytes);
  Neighbour neighbour([&](auto ready) {
    const int fd = open(data.c_str(), O_RDONLY);
    const auto* bytes =
        static_cast<const volatile char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0));
    for (std::size_t at = 0; at < kBytes / 4; at += 4096) static_cast<void>(bytes[at]);
    ready();
  });
  Outcome outcome = run_iotrace(run_on_data("cold,as-is", "pread", "0.1"), {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);  // some rows were measured; the report says why the others were not
  CHECK_THAT(outcome.out, Contains("could not reach 'cold'"));
  const json record = read_json(folder.path() / "run.json");
  CHECK(record["rows"].size() == 4);
  for (const json& row : record["rows"]) {
    INFO(row.dump());
    CHECK(row["error"].is_string() == (row["case"] == "cold"));
    if (row["case"] == "cold")
      CHECK_THAT(row["error"].get<std::string>(), Contains("another process maps, locks or reads it"));
  }
  CHECK(left_behind() == std::vector<std::string>{});
}

namespace {

// A row of a shared file is a number with its proof, or an error that names the state that was missed.
void check_honest(const json& record) {
  for (const json& row : record["rows"]) {
    INFO(row.dump());
    if (row["error"].is_string()) {
      CHECK_THAT(row["error"].get<std::string>(),
                 Contains("could not reach") || Contains("did not last") || Contains("was not reached"));
      continue;
    }
    for (const json& repetition : row["untraced"]["reps"]) {
      CHECK(repetition["ops"].get<std::uint64_t>() > 0);
      if (row["case"] == "cold") CHECK(repetition["residency_before_ratio"].get<double>() <= 0.001);
      if (row["case"] == "warm") CHECK(repetition["residency_after_ratio"].get<double>() >= 0.999);
    }
  }
}

}

TEST_CASE("a neighbour that reads the file all the time: rows are cold, or say that they could not be") {
  need_root();
  TempFolder folder;
  const auto data = folder.file("data", kBytes);
  Neighbour neighbour([&](auto ready) {
    const int fd = open(data.c_str(), O_RDONLY);
    char block[4096];
    ready();
    for (off_t at = 0;; at = (at + 65536) % static_cast<off_t>(kBytes))
      if (pread(fd, block, sizeof block, at) < 0) _exit(1);
  });
  Outcome outcome = run_iotrace(run_on_data("cold", "mmap-random,pread", "0.1"), {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  CHECK((outcome.exit_code == 0 || outcome.exit_code == 1));
  check_honest(read_json(folder.path() / "run.json"));
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("two iotraces at once on one file both end, with numbers or with the state that they missed") {
  need_root();
  TempFolder folder, other_folder;
  const auto data = folder.file("data", kBytes);
  std::vector<std::string> words{
      "run",       "--file", data,      "--case", "cold,warm",  "--strategy", "pread,mmap-random",
      "--threads", "1",      "--reps",  "2",      "--duration", "0.1",        "--user",
      "0",         "-o",     "run.json"};
  Program first(words, {.folder = folder.path()});
  Program second(words, {.folder = other_folder.path()});
  Outcome outcomes[] = {first.wait(), second.wait()};
  for (const Outcome& outcome : outcomes) {
    INFO(outcome.out << outcome.err);
    CHECK((outcome.exit_code == 0 || outcome.exit_code == 1));
  }
  check_honest(read_json(folder.path() / "run.json"));
  check_honest(read_json(other_folder.path() / "run.json"));
  CHECK(left_behind() == std::vector<std::string>{});
}
