// Bad input gets one clear line that says what, why and the remedy, a non-zero exit, and leaves nothing.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;

namespace {

constexpr uid_t kNobody = 65534;

void check_one_line(const Outcome& outcome, int exit_code, const std::string& says) {
  INFO("stdout: " << outcome.out << "\nstderr: " << outcome.err);
  CHECK(outcome.exit_code == exit_code);
  CHECK(outcome.out.empty());
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err, Contains(says) && Catch::Matchers::StartsWith("iotrace: "));
}

Outcome off(std::vector<std::string> arguments, const RunOptions& options = {}) {
  arguments.insert(arguments.begin(), {"run", "--probes", "off"});
  return run_iotrace(arguments, options);
}

}

TEST_CASE("bad words on the command line are usage errors that name the option") {
  struct Example {
    std::vector<std::string> words;
    std::string says;
  };
  const Example examples[] = {
      {{"run", "--strategy", "mmap-ramdom"}, "unknown strategy 'mmap-ramdom'; did you mean mmap-random?"},
      {{"run", "--case", "cool"}, "unknown case 'cool'; did you mean cold?"},
      {{"run", "--pattern", "randon"}, "unknown pattern 'randon'; did you mean random?"},
      {{"run", "--size", "12Q"}, "--size '12Q': needs a size"},
      {{"run", "--size", "-1"}, "--size '-1': needs a size"},
      {{"run", "--read-size", "0"}, "--read-size '0': needs a size"},
      {{"run", "--read-size", "1G"}, "--read-size '1G': at most 64M"},
      {{"run", "--threads", "0"}, "--threads '0': needs a whole number from 1 to 1024"},
      {{"run", "--threads", "1,,4"}, "--threads '1,,4'"},
      {{"run", "--threads", "4,4"}, "names 4 twice"},
      {{"run", "--reps", "ten"}, "--reps 'ten': needs a whole number"},
      {{"run", "--duration", "0"}, "--duration must be longer than 0"},
      {{"run", "--duration", "-3"}, "--duration '-3': needs a time"},
      {{"run", "--duration", "nan"}, "--duration 'nan': needs a time"},
      {{"run", "--ops", "0"}, "--ops '0'"},
      {{"run", "--align", "0"}, "--align '0'"},
      {{"run", "--strict", "--no-canary"}, "--strict asks for proven probes"},
      {{"run", "--strict", "--probes", "off"}, "--strict asks for proven probes"},
      {{"run", "--stacks"}, "--stacks: name a file for the record by -o"},
      {{"run", "--window", "2s", "--probes", "off"}, "--probes off has none"},
      {{"run", "--window", "2x", "-o", "x.json"}, "--window '2x'"},
      {{"run", "--probes", "fault"}, "unknown probe 'fault'; did you mean faults?"},
      {{"run", "--probes", "faults,paired"}, "unknown probe 'paired'"},
      {{"run", "--file", "x", "--size", "1M"}, "--size is for the scratch file"},
      {{"run", "--strategy", "read"}, "reads in order only; add --pattern sequential"},
      {{"run", "--hot-size", "1M"}, "--hot-size '1M': is for the pattern hot-cold"},
      {{"run", "--pattern", "hot-cold", "--cold-pct", "101"}, "--cold-pct '101': needs a percentage"},
      {{"run", "--pattern", "zipf", "--zipf-theta", "1"}, "--zipf-theta '1': needs a number above 0"},
      {{"run", "--pattern", "strided", "--stride", "no"}, "--stride 'no': needs a size"},
      {{"run", "--ceiling", "yes"}, "--ceiling 'yes': on or off"},
      {{"run", "--preset", "fulll"}, "did you mean full?"},
      {{"run", "--nonsense"}, "--nonsense"},
      {{"list", "strategy"}, "did you mean strategies?"},
      {{"report", "/nonexistent.json"}, "ENOENT"},
      {{}, "subcommand"},
  };
  for (const Example& example : examples) check_one_line(run_iotrace(example.words), 2, example.says);
}

TEST_CASE("files that cannot be read are refused before anything is measured") {
  TempFolder folder;
  RunOptions here{.folder = folder.path()};
  check_one_line(off({"--file", "missing"}, here), 2, "open missing: ENOENT");
  check_one_line(off({"--file", "."}, here), 2, "is a directory");
  folder.file("empty", 0);
  check_one_line(off({"--file", "empty"}, here), 2, "is empty");
  folder.file("short", 4096);
  check_one_line(off({"--file", "short"}, here), 2, "shorter than one read of 16384");
  REQUIRE(mkfifo((folder.path() / "fifo").c_str(), 0644) == 0);
  check_one_line(off({"--file", "fifo"}, here), 2, "not a regular file");
}

TEST_CASE("no room for the scratch file: says how much is needed and removes nothing but its own") {
  TempFolder folder;
  Outcome outcome = off({"--size", "2048T"}, {.folder = folder.path()});
  check_one_line(outcome, 1, "--size");
  CHECK(folder.entries().empty());
}

TEST_CASE("a record that could not be written is noticed before the measurement") {
  TempFolder folder;
  check_one_line(off({"--size", "1M", "-o", "no-such-folder/run.json"}, {.folder = folder.path()}), 2,
                 "no-such-folder");
  check_one_line(off({"--size", "1M", "-o", "."}, {.folder = folder.path()}), 2, "is a folder");
  CHECK(folder.entries().empty());
}

TEST_CASE("an ordinary user is told how to run with probes, exit 3") {
  if (geteuid() != 0) skip("needs root to become another user");
  TempFolder folder;
  Outcome outcome = run_iotrace({"run", "--size", "1M"}, {.folder = folder.path(), .uid = kNobody});
  check_one_line(outcome, 3, "sudo");
  CHECK(folder.entries().empty());
}

TEST_CASE("damaged and foreign JSON given to report is one line that says where") {
  check_one_line(run_iotrace({"report", "-"}, {.input = "{\"rows\": [1,"}), 1, "line 1");
  check_one_line(run_iotrace({"report", "-"}, {.input = "{\"some\": \"thing\"}"}), 1, "schema_version");
  check_one_line(run_iotrace({"report", "-"}, {.input = ""}), 1, "-");
}
