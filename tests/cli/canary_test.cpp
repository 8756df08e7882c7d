// A probe that does not see what happens, in the program as it is: a system call is taken away before the
// kernel's own tracing, so that the syscalls probe misses calls that its canary makes.

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"
#include "tests/cli/system_call_filter.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr const char* kWhatItSaw = "canary: expected 11 madvise(SEQUENTIAL) that give EINVAL, saw 0";

bool hide_advice() {
  return take_away({.number = SYS_madvise, .argument = 2, .value = MADV_SEQUENTIAL}, EPERM);
}

Outcome run_in(const TempFolder& folder, std::vector<std::string> more, std::function<bool()> prepare = {}) {
  std::vector<std::string> words{"run",         "--size",    "8M",  "--case", "cold",    "--strategy",
                                 "mmap-random", "--threads", "1",   "--reps", "1",       "--ops",
                                 "5",           "--ceiling", "off", "-o",     "run.json"};
  words.insert(words.end(), more.begin(), more.end());
  return run_iotrace(words, {.folder = folder.path(), .prepare = std::move(prepare)});
}

}

TEST_CASE("a failed canary makes its probe unavailable, with what was expected and seen") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_in(folder, {}, hide_advice);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json record = read_json(folder.path() / "run.json");
  CHECK(the_finding(record, "probe-unavailable")["severity"] == "warn");
  const json& row = row_of(record, "mmap-random");
  CHECK(row["syscalls"].is_null());
  CHECK(row["madvise"].is_null());
  for (const char* group : {"syscalls", "madvise"})
    CHECK_THAT(row["unavailable"].value(group, ""), Contains(kWhatItSaw));
  for (const json& probe : row["probes"]) {
    const bool failed = probe["name"] == "syscalls";
    CHECK(probe["variant"].is_null() == failed);
    if (failed) CHECK_THAT(probe["reason"].get<std::string>(), Contains(kWhatItSaw));
  }
  CHECK(row["faults"]["read"]["count"].get<double>() > 0);
}

TEST_CASE("strict: measures nothing where a canary fails: one line, exit 3") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_in(folder, {"--strict"}, hide_advice);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.empty());
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err,
             Catch::Matchers::StartsWith("iotrace: --strict: syscalls: ") && Contains(kWhatItSaw));
  CHECK(folder.entries().empty());
  CHECK(left_behind() == std::vector<std::string>{});
}

TEST_CASE("strict: measures where every probe is proven") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_in(folder, {"--strict"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(is_silent(read_json(folder.path() / "run.json"), "probe-unavailable"));
}

TEST_CASE("without canaries: believes the probes") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_in(folder, {"--no-canary"}, hide_advice);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(row_of(read_json(folder.path() / "run.json"), "mmap-random")["syscalls"].is_array());
}

TEST_CASE("doctor names a probe whose canary fails") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_iotrace({"doctor"}, {.folder = folder.path(), .prepare = hide_advice});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.out, Contains("gap   probe syscalls") && Contains("canary: expected 11"));
}
