// `iotrace run` end to end, with counts that must hold.

#include <sys/mount.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr uid_t kNobody = 65534;

const json& row_of(const json& record, const std::string& strategy) {
  for (const json& row : record["rows"])
    if (row["strategy"] == strategy && row["control"] == false) return row;
  FAIL("no row " << strategy);
  return record;
}

}

TEST_CASE("without probes an ordinary user measures throughput on a scratch file that is gone afterwards") {
  need_root();
  TempFolder folder;
  Outcome outcome =
      run_iotrace({"run", "--probes", "off", "--size", "8M", "--strategy", "pread,mmap", "--case",
                   "warm,as-is", "--threads", "1,2", "--reps", "2", "--ops", "23", "-o", "run.json"},
                  {.folder = folder.path(), .uid = kNobody});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(folder.entries() == std::vector<std::string>{"run.json"});
  json record = read_json(folder.path() / "run.json");
  CHECK(record["partial"] == false);
  CHECK(record["rows"].size() == 12);  // 2 cases x 2 threads x (2 strategies + control)
  for (const json& row : record["rows"]) {
    CHECK(row["error"].is_null());
    CHECK(row["traced"].is_null());
    CHECK(row["faults"].is_null());
    CHECK(row["unavailable"].contains("faults"));
    CHECK(row["requested_bytes"] == 2 * 23 * 16 * 16384);
    CHECK(row["untraced"]["lat_ns"]["N"] == 2 * 23);
  }
}

TEST_CASE(
    "paired before a probe's name traces as many repetitions as it leaves untraced, with that probe alone") {
  need_root();
  TempFolder folder;
  Outcome outcome = run_iotrace({"run", "--probes", "paired,syscalls", "--size", "8M", "--strategy", "pread",
                                 "--case", "as-is", "--threads", "1", "--reps", "3", "--ops", "7",
                                 "--ceiling", "off", "-o", "run.json"},
                                {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json row = read_json(folder.path() / "run.json")["rows"][0];
  CHECK(row["untraced"]["reps"].size() == 3);
  CHECK(row["traced"]["reps"].size() == 3);
  CHECK(row["syscalls"].is_array());
  CHECK(row["faults"].is_null());
}

TEST_CASE("misaligned hints are all rejected, aligned ones are not, and the finding says so") {
  need_root();
  TempFolder folder;
  Outcome outcome =
      run_iotrace({"run", "--size", "128M", "--case", "cold", "--threads", "1", "--reps", "1", "--ops", "23",
                   "--seed", "7", "--strategy",
                   "mmap-random,mmap-random-willneed,mmap-random-willneed-misaligned", "-o", "run.json"},
                  {.folder = folder.path()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  json record = read_json(folder.path() / "run.json");

  const json& bad = row_of(record, "mmap-random-willneed-misaligned");
  // Of 23 x 16 offsets at any byte, those that happen to be multiples of the page size are accepted.
  std::uint64_t rejected = 0, accepted = 0;
  for (const json& entry : bad["madvise"]) {
    REQUIRE(entry["advice"] == "WILLNEED");
    (entry["errno"] == "EINVAL" ? rejected : accepted) += entry["calls"].get<std::uint64_t>();
    if (entry["errno"] == "EINVAL") CHECK(entry["misaligned"] == entry["calls"]);
  }
  CHECK(rejected + accepted == 23 * 16);
  CHECK(accepted <= 2);
  const json& good = row_of(record, "mmap-random-willneed");
  REQUIRE(good["madvise"].size() == 1);
  CHECK(good["madvise"][0]["errno"].is_null());
  CHECK(good["madvise"][0]["calls"] == 23 * 16);
  CHECK(good["madvise"][0]["misaligned"] == 0);
  CHECK(row_of(record, "mmap-random")["madvise"].empty());

  REQUIRE(record["findings"].size() >= 1);
  CHECK(record["findings"][0]["id"] == "hint-rejected");
  CHECK_THAT(outcome.out, Contains("mmap-random-willneed-misaligned") && Contains("Round the start down"));
  CHECK(left_behind().empty());
}

TEST_CASE("one seed gives the same counts twice, another seed does not") {
  need_root();
  TempFolder folder;
  auto run = [&](const std::string& seed) {
    Outcome outcome =
        run_iotrace({"run", "--size", "64M", "--case", "cold", "--threads", "1", "--reps", "1", "--ops", "29",
                     "--strategy", "mmap-random", "--seed", seed, "-o", "run.json"},
                    {.folder = folder.path()});
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    json record = read_json(folder.path() / "run.json");
    return row_of(record, "mmap-random")["faults"]["read"]["count"].get<std::uint64_t>();
  };
  const std::uint64_t first = run("11");
  CHECK(first > 29 * 16 * 3);  // 16 KiB at any byte touch 4 or 5 pages, seldom the same twice
  CHECK(run("11") == first);
  CHECK(run("12") != first);
}

TEST_CASE("the worker's user decides what can be read") {
  need_root();
  TempFolder folder;
  auto open_to_all = folder.file("open", 4u << 20);
  auto secret = folder.file("secret", 4u << 20);
  chmod(secret.c_str(), 0600);
  std::vector<std::string> common{"run",   "--probes",  "off",    "--case", "as-is", "--strategy",
                                  "pread", "--threads", "1",      "--reps", "1",     "--ops",
                                  "5",     "--user",    "nobody", "--file"};
  auto with = [&](const std::string& file) {
    auto arguments = common;
    arguments.push_back(file);
    return run_iotrace(arguments);
  };
  CHECK(with(open_to_all).exit_code == 0);
  Outcome refused = with(secret);
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.out, Contains("as user nobody: EACCES"));
}

TEST_CASE("a strategy that the file system cannot do is an error of its row alone") {
  need_root();
  TempFolder folder;
  if (mount("none", folder.path().c_str(), "ramfs", 0, nullptr) != 0)
    skip("cannot mount a ramfs, which has no O_DIRECT");
  Outcome outcome =
      run_iotrace({"run", "--probes", "off", "--size", "8M", "--case", "as-is", "--strategy", "direct,pread",
                   "--threads", "1", "--reps", "1", "--ops", "5", "--user", "0", "-o", "/dev/stderr"},
                  {.folder = folder.path()});
  umount(folder.path().c_str());
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Contains("no O_DIRECT"));
  json record = json::parse(outcome.err);
  CHECK(row_of(record, "direct")["error"].get<std::string>().find("O_DIRECT") != std::string::npos);
  CHECK(row_of(record, "direct")["untraced"].is_null());
  CHECK(row_of(record, "pread")["error"].is_null());
}
