// report: which format it picks, where it reads and where it writes.

#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const std::string kRecord = std::string(IOTRACE_SOURCE_DIR) + "/tests/golden/records/cold.json";
const std::string kWatch = std::string(IOTRACE_SOURCE_DIR) + "/tests/golden/records/attach_metrics.json";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

}

TEST_CASE("report picks the format by the output's extension") {
  struct Example {
    std::string name, starts;
  };
  TempFolder folder;
  for (const Example& example : {Example{"a.html", "<!DOCTYPE html>"},
                                 {"a.md", "### cold"},
                                 {"a.csv", "iotrace,started,"},
                                 {"a.json", "[\n  {\n    \"id\""},
                                 {"a.fio.json", "{\n  \"fio version\""},
                                 {"a.prom", "# HELP"},
                                 {"a.txt", "iotrace 0.1.0 run"}}) {
    INFO(example.name);
    const Outcome outcome = run_iotrace({"report", kRecord, "-o", example.name}, {.folder = folder.path()});
    CHECK(outcome.exit_code == 0);
    CHECK((outcome.out + outcome.err).empty());
    CHECK_THAT(text_of(folder.path() / example.name), StartsWith(example.starts));
  }
  CHECK(folder.entries().size() == 7);  // nothing beside
}

TEST_CASE("report: --format goes before the extension, and - is the standard output") {
  TempFolder folder;
  const RunOptions here{.folder = folder.path()};
  REQUIRE(run_iotrace({"report", kRecord, "--format", "markdown", "-o", "a.html"}, here).exit_code == 0);
  CHECK_THAT(text_of(folder.path() / "a.html"), StartsWith("### cold"));

  const Outcome terminal = run_iotrace({"report", kRecord}, here);
  CHECK_THAT(terminal.out, StartsWith("iotrace 0.1.0 run"));
  CHECK(run_iotrace({"report", kRecord, "-o", "-"}, here).out == terminal.out);
  CHECK(run_iotrace({"report", "-", "-o", "-"}, {.input = text_of(kRecord)}).out == terminal.out);
  CHECK_THAT(run_iotrace({"report", "-", "--format", "csv"}, {.input = text_of(kRecord)}).out,
             StartsWith("iotrace,started,"));
  CHECK(folder.entries() == std::vector<std::string>{"a.html"});
}

TEST_CASE("report: what cannot be written is one line, and leaves what was there") {
  TempFolder folder;
  const RunOptions here{.folder = folder.path()};
  Outcome outcome = run_iotrace({"report", kRecord, "-o", "a.xlsx"}, here);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err,
             StartsWith("iotrace: -o a.xlsx: no format") && Contains(".html") && Contains(".csv"));

  outcome = run_iotrace({"report", kWatch, "-o", "a.fio.json"}, here);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("attach has none"));

  outcome = run_iotrace({"report", kRecord, "-o", "no-such-folder/a.html"}, here);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("no-such-folder"));

  outcome = run_iotrace({"report", kRecord, "-o", "/dev/full", "--format", "html"}, here);
  CHECK(outcome.exit_code == 1);
  CHECK_THAT(outcome.err, Contains("ENOSPC"));
  CHECK(folder.entries().empty());
}

TEST_CASE("report never writes over the record that it reads") {
  TempFolder folder;
  const RunOptions here{.folder = folder.path()};
  std::filesystem::copy_file(kRecord, folder.path() / "run.json");
  const Outcome outcome = run_iotrace({"report", "run.json", "-o", "./run.json"}, here);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("is the record itself"));
  CHECK(text_of(folder.path() / "run.json") == text_of(kRecord));
}

TEST_CASE("list formats names what --format takes") {
  const Outcome outcome = run_iotrace({"list", "formats"});
  CHECK(outcome.exit_code == 0);
  for (const char* name : {"terminal", "markdown", "jmh", "json", "openmetrics", "html", "csv", "fio"})
    CHECK_THAT("\n" + outcome.out, Contains("\n" + std::string(name) + " "));
}
