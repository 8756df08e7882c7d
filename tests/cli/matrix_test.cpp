// Presets, the plan without the run, the device's ceiling, fio, and published results: as a user calls them.

#include <cstdlib>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"
#include "tests/skip.h"

using namespace iotrace::test;

namespace {

const std::vector<std::string> kSmall{"run",    "--size",   "64M",    "--threads", "1",
                                      "--reps", "2",        "--seed", "7",         "--duration",
                                      "0.05",   "--probes", "off",    "-o",        "r.json"};

nlohmann::json record_of(const TempFolder& folder, std::vector<std::string> more) {
  std::vector<std::string> arguments = kSmall;
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_iotrace(arguments, {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return read_json(folder.path() / "r.json");
}

}

TEST_CASE("a dry run says what would be measured, and touches nothing") {
  const TempFolder folder;
  const Outcome outcome = run_iotrace({"run", "--preset", "lucene-16279", "--size", "2G", "--dry-run"},
                                      {.folder = folder.path()});
  CHECK(outcome.exit_code == 0);
  // 7 strategies x 4 cases x 4 thread counts, and 7 in order x 3 sizes; a control each: 16 + 3.
  CHECK_THAT(outcome.out, Catch::Contains("133 and 19 A/A controls") && Catch::Contains("2 GiB"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("every preset is a plan") {
  const Outcome list = run_iotrace({"list", "presets"});
  REQUIRE(list.exit_code == 0);
  for (const char* preset : {"lucene-16279", "lucene-16145", "lkml-2002", "quick", "full"}) {
    CAPTURE(preset);
    CHECK_THAT(list.out, Catch::Contains(preset));
    CHECK(run_iotrace({"run", "--preset", preset, "--dry-run"}).exit_code == 0);
  }
  const Outcome unknown = run_iotrace({"run", "--preset", "lucene-16278"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Catch::Contains("did you mean lucene-16279"));
}

TEST_CASE("what is named beside a preset holds for all of its tables") {
  const TempFolder folder;
  const auto record = record_of(
      folder, {"--preset", "lucene-16279", "--case", "cold", "--strategy", "pread", "--read-size", "16K"});
  REQUIRE(record["rows"].size() == 4);  // random and sequential, each with its control
  CHECK(record["rows"][0]["pattern"] == "random");
  CHECK(record["rows"][0]["reads_per_op"] == 16);
  CHECK(record["rows"][2]["pattern"] == "sequential");
  CHECK(record["rows"][2]["reads_per_op"] == 128);
}

TEST_CASE("the ceiling: points of growing depth, and each row's share of it") {
  const TempFolder folder;
  const auto record = record_of(folder, {"--case", "cold", "--strategy", "direct", "--ceiling", "on"});
  REQUIRE(record["ceiling"].is_array());
  std::size_t small = 0, large = 0;
  for (const auto& point : record["ceiling"]) {
    CHECK(point["iops"] > 0);
    CHECK(point["bw_bytes"].get<double>() ==
          Approx(point["iops"].get<double>() * point["request_bytes"].get<double>()));
    ++(point["request_bytes"] == 16384 ? small : large);
  }
  CHECK(small == 5);
  CHECK(large == 3);
  CHECK(record["second_pass_ratio"].is_number());
  CHECK(record["rows"][0]["ceiling_ratio"] > 0);

  const auto without = record_of(folder, {"--case", "cold", "--strategy", "direct"});
  CHECK(without["ceiling"].is_null());
  CHECK(without["rows"][0]["ceiling_ratio"].is_null());
  CHECK(without["rows"][0]["unavailable"]["ceiling_ratio"] == "--ceiling off");
}

TEST_CASE("run with fio measures the rows that fio has, and says of the others that it has them not") {
  if (std::system("command -v fio >/dev/null") != 0) skip("fio is not installed");
  const TempFolder folder;
  const auto record =
      record_of(folder, {"--case", "cold", "--strategy", "pread,mmap-random,filechannel", "--fio"});
  CHECK(row_of(record, "pread")["fio"]["engine"] == "psync");
  CHECK(row_of(record, "pread")["fio"]["iops"] > 0);
  CHECK(row_of(record, "mmap-random")["fio"]["engine"] == "mmap");
  CHECK(row_of(record, "filechannel")["fio"].is_null());
  CHECK(row_of(record, "filechannel")["unavailable"]["fio"] == "fio has no such strategy");
}

TEST_CASE("run with fio reads the file that was named, by a relative path too") {
  if (std::system("command -v fio >/dev/null") != 0) skip("fio is not installed");
  const TempFolder folder;
  REQUIRE(std::system(("head -c 16M /dev/urandom > " + (folder.path() / "file").string()).c_str()) == 0);
  const Outcome outcome = run_iotrace(
      {"run", "--file", "file", "--user",     "0",    "--case",   "as-is", "--strategy", "pread", "--threads",
       "1",   "--reps", "1",    "--duration", "0.05", "--probes", "off",   "--fio",      "-o",    "r.json"},
      {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(row_of(read_json(folder.path() / "r.json"), "pread")["fio"]["iops"] > 0);
}

TEST_CASE("a back-off withholds hints for cached pages, and each one is counted") {
  const TempFolder folder;
  const Outcome outcome = run_iotrace({"run", "--size", "64M", "--case", "resident", "--strategy",
                                       "mmap-random-willneed-backoff,mmap-random-willneed", "--threads", "1",
                                       "--reps", "1", "--ops", "23", "--seed", "7", "-o", "r.json"},
                                      {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto record = read_json(folder.path() / "r.json");
  // 23 ops of 16 reads: the counts 0, 1, 2, 4, ..., 256 are worth a look, the others are not.
  CHECK(row_of(record, "mmap-random-willneed-backoff")["hints"]["suppressed"] == 23 * 16 - 10);
  CHECK(row_of(record, "mmap-random-willneed")["hints"]["suppressed"] == 0);
  CHECK(row_of(record, "mmap-random-willneed")["hints"]["issued"] == 23 * 16);
  CHECK(is_silent(record, "no-hint-issued"));
}

TEST_CASE("report --reference sets published results beside the rows; --format jmh prints JMH's table") {
  const TempFolder folder;
  record_of(folder, {"--case", "cold", "--strategy", "mmap,pread,mmap-random"});
  const RunOptions here{.folder = folder.path()};
  const Outcome beside = run_iotrace({"report", "r.json", "--reference", "lucene-16279:c6id"}, here);
  CHECK(beside.exit_code == 0);
  CHECK_THAT(beside.out, Catch::Contains("Linux c6id.4xlarge") && Catch::Contains("mmap (RANDOM)") &&
                             Catch::Contains("https://github.com/apache/lucene/pull/16279"));
  const Outcome unknown = run_iotrace({"report", "r.json", "--reference", "lucene-16279:vax"}, here);
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Catch::Contains("'vax'"));

  const Outcome jmh = run_iotrace({"report", "r.json", "--format", "jmh"}, here);
  CHECK(jmh.exit_code == 0);
  CHECK_THAT(jmh.out, Catch::Contains("Benchmark") && Catch::Contains("ops/ms") && Catch::Contains("±"));
}

TEST_CASE(
    "readahead-pollutes: fires where readahead under a limit throws out what is needed, not where it fits") {
  const TempFolder folder;
  const std::vector<std::string> both{"--strategy", "mmap,mmap-random", "--probes", "on", "--ceiling", "off"};
  auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), both.begin(), both.end());
    std::vector<std::string> arguments{"run",    "--size", "256M",       "--threads", "1",  "--reps", "6",
                                       "--seed", "7",      "--duration", "0.2",       "-o", "r.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_iotrace(arguments, {.folder = folder.path()});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return read_json(folder.path() / "r.json");
  };
  const auto limited = run({"--case", "half-cold"});
  CHECK(the_finding(limited, "readahead-pollutes")["numbers"]["refaults_per_op"] > 100);
  const auto fits = run({"--case", "resident"});
  CHECK(is_silent(fits, "readahead-pollutes"));
}

TEST_CASE("a pass in order does not drift: it reads nothing twice") {
  const TempFolder folder;
  const auto record =
      record_of(folder, {"--case", "cold", "--pattern", "sequential", "--strategy", "mmap,pread"});
  for (const auto& row : record["rows"]) {
    CHECK(row["error"].is_null());
    CHECK(row["drifted"] == false);
  }
}
