// compare as a user runs it: exit codes, what is refused, standard input.

#include <algorithm>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const std::string kRecord = IOTRACE_SOURCE_DIR "/tests/golden/records/cold.json";
const std::string kAttach = IOTRACE_SOURCE_DIR "/tests/golden/records/attach_metrics.json";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The record, with every repetition `times` as fast, as a file of the folder.
std::string record_at_speed(const TempFolder& folder, const std::string& name, double times) {
  json record = json::parse(text_of(kRecord));
  record["started"] = "2026-12-01T00:00:00Z";
  for (json& row : record["rows"])
    for (json& rep : row["untraced"]["reps"]) rep["seconds"] = rep["seconds"].get<double>() / times;
  const std::string path = folder.path() / name;
  std::ofstream(path) << record;
  return path;
}

void check_one_line(const Outcome& outcome, int exit_code, const std::string& says) {
  INFO("stdout: " << outcome.out << "\nstderr: " << outcome.err);
  CHECK(outcome.exit_code == exit_code);
  CHECK(outcome.out.empty());
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err, Contains(says) && Catch::Matchers::StartsWith("iotrace: "));
}

}

TEST_CASE("compare: a record against itself: no difference proven, exit 0, also with --fail-over") {
  Outcome outcome = run_iotrace({"compare", kRecord, "-", "--fail-over", "0%"}, {.input = text_of(kRecord)});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK_THAT(outcome.out, Contains("faster in 0 of 4 cells, no difference proven in 4"));
  CHECK_THAT(outcome.out, Contains("A and B are one and the same run"));
}

TEST_CASE("compare: --fail-over exits with 4 where a row is proven slower by more, else with 0") {
  TempFolder folder;
  const std::string slow = record_at_speed(folder, "slow.json", 0.1);
  Outcome outcome = run_iotrace({"compare", kRecord, slow, "--fail-over", "5%", "--format", "json"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 4);
  CHECK(outcome.err == "iotrace: proven slower by more than 5 % in 4 of 4 cells\n");
  const json comparison = json::parse(outcome.out);
  CHECK(comparison["cells"][0]["against"][0]["verdict"] == "slower");

  CHECK(run_iotrace({"compare", kRecord, slow}).exit_code == 0);
  CHECK(run_iotrace({"compare", kRecord, slow, "--fail-over", "95"}).exit_code == 0);
  CHECK(run_iotrace({"compare", slow, kRecord, "--fail-over", "5%"}).exit_code == 0);
}

TEST_CASE("compare: --fail-over says what it can't tell") {
  TempFolder folder;
  json record = json::parse(text_of(kRecord));
  for (json& row : record["rows"]) row["untraced"]["reps"].erase(0);
  std::ofstream(folder.path() / "few.json") << record;
  Outcome outcome =
      run_iotrace({"compare", kRecord, "few.json", "--fail-over", "5%"}, {.folder = folder.path()});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, Contains("--fail-over can't tell in 4 of 4 cells"));
}

TEST_CASE("compare: within one record, by strategy") {
  Outcome outcome = run_iotrace({"compare", "--by", "strategy", kRecord, "--format", "csv"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(std::ranges::count(outcome.out, '\n') == 1 + 3);
}

TEST_CASE("compare: sessions of one configuration are pooled, groups are compared") {
  TempFolder folder;
  const std::string again = record_at_speed(folder, "again.json", 1.0);
  Outcome outcome =
      run_iotrace({"compare", "--group", kRecord + "," + again, "--group", kRecord, "--format", "json"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json comparison = json::parse(outcome.out);
  CHECK(comparison["records"].size() == 2);
  CHECK(comparison["records"][0]["more_sessions"] == json{"2026-12-01T00:00:00Z"});
  CHECK(comparison["cells"][0]["base"]["ops_per_ms"]["n"] == 12);
  CHECK(comparison["cells"][0]["against"][0]["ops_per_ms"]["n"] == 6);
}

TEST_CASE("compare: bad words are usage errors of one line") {
  check_one_line(run_iotrace({"compare"}), 2, "compare needs records");
  check_one_line(run_iotrace({"compare", "--group", kRecord + ",,"}), 2, "--group");
  check_one_line(run_iotrace({"compare", "--group", kRecord, kRecord}), 2, "--group names records itself");
  check_one_line(run_iotrace({"compare", kRecord}), 2, "--by strategy, threads or case");
  check_one_line(run_iotrace({"compare", kRecord, "--by", "pattern"}), 2, "--by 'pattern'");
  check_one_line(run_iotrace({"compare", kRecord, kRecord, "--format", "pdf"}), 2, "--format 'pdf'");
  check_one_line(run_iotrace({"compare", kRecord, kRecord, "--fail-over", "much"}), 2, "--fail-over 'much'");
  check_one_line(run_iotrace({"compare", kRecord, kRecord, "--fail-over", "-1%"}), 2, "--fail-over '-1%'");
  check_one_line(run_iotrace({"compare", "-", "-"}, {.input = "{}"}), 2, "standard input twice");
  check_one_line(run_iotrace({"compare", kRecord, "/nonexistent.json"}), 2, "open /nonexistent.json: ENOENT");
  check_one_line(run_iotrace({"compare", kRecord, kAttach}), 2, "attach_metrics.json: a record of attach");
}

TEST_CASE("compare: damaged and foreign JSON is one line that says which file and where") {
  TempFolder folder;
  auto refused = [&](const std::string& text, const std::string& says) {
    std::ofstream(folder.path() / "bad.json") << text;
    check_one_line(run_iotrace({"compare", kRecord, "bad.json"}, {.folder = folder.path()}), 1,
                   "bad.json: " + says);
  };
  refused("{\"rows\": [1,", "not JSON: the text ends too early at line 1");
  refused("{\"some\": \"thing\"}", "not an iotrace record: \"schema_version\" is missing");
  refused("", "not JSON");
  json record = json::parse(text_of(kRecord));
  record["rows"][1]["threads"] = "many";
  refused(record.dump(), "iotrace record, field /rows/1/threads: expected a whole number");
  record = json::parse(text_of(kRecord));
  record["schema_version"] = 99;
  refused(record.dump(), "the record has schema_version 99");
}
