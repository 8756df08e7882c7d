// `iotrace run` with a pace of its own: open loop, computing, churn, writes. Counts must hold, times may not
// be asked for.

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"
#include "tests/skip.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct Ran {
  Outcome outcome;
  json record;
};

Ran run(const TempFolder& folder, std::vector<std::string> words) {
  words.insert(words.begin(), {"run", "--size", "16M", "--seed", "7", "-o", "run.json"});
  Ran ran{run_iotrace(words, {.folder = folder.path()}), {}};
  INFO(ran.outcome.out << ran.outcome.err);
  REQUIRE(ran.outcome.exit_code == 0);
  ran.record = read_json(folder.path() / "run.json");
  for (const json& row : ran.record["rows"]) {
    INFO(row["error"].dump());
    REQUIRE(row["error"].is_null());
  }
  return ran;
}

std::vector<std::string> untraced(std::vector<std::string> words) {
  words.insert(words.end(), {"--probes", "off", "--strategy", "pread", "--case", "as-is", "--threads", "2"});
  return words;
}

void refused(std::vector<std::string> words, const std::string& says) {
  words.insert(words.begin(), "run");
  Outcome outcome = run_iotrace(words);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
  CHECK_THAT(outcome.err, Contains(says));
}

}

TEST_CASE("bad words for pace, computing, churn and writes are usage errors") {
  refused({"--rate", "0"}, "--rate '0': needs ops per second above 0");
  refused({"--rate", "201%"}, "--rate '201%': needs ops per second above 0");
  refused({"--rate", "fast"}, "--rate 'fast'");
  refused({"--rate", "nan"}, "--rate 'nan'");
  refused({"--rate", "100,100"}, "names 100 twice");
  refused({"--rate", "100", "--arrivals", "bursty"}, "--arrivals 'bursty': needs poisson or fixed");
  refused({"--arrivals", "fixed"}, "add --rate");
  refused({"--compute", "-1"}, "--compute '-1': needs a time");
  refused({"--compute", "50"}, "--compute '50': is longer than 1s; write 50us or 2ms");
  refused({"--mmap-churn", "-2"}, "--mmap-churn '-2': needs maps per second");
  refused({"--write-pct", "101"}, "--write-pct '101': needs a percentage from 0 to 100");
  refused({"--write-pct", "50", "--file", "x"}, "leave out --file");
  refused({"--write-pct", "50", "--strategy", "pread,direct"}, "strategy 'direct'");
}

TEST_CASE("fixed arrivals: those served and those not are all that were due, in every repetition") {
  need_root();
  TempFolder folder;
  // 500 in half a second, and as many again as no machine serves.
  auto [outcome, record] =
      run(folder,
          untraced({"--rate", "1000,4000000", "--arrivals", "fixed", "--reps", "2", "--duration", "0.5"}));
  REQUIRE(record["rows"].size() == 4);
  for (const json& row : record["rows"]) {
    CHECK(row["cell"]["pace"] == "open");
    CHECK(row["noise_floor_ratio"].is_null());
    const auto due = static_cast<std::uint64_t>(row["cell"]["rate"].get<double>() / 2);
    std::uint64_t served = 0;
    for (const json& rep : row["untraced"]["reps"]) {
      CHECK(rep["ops"].get<std::uint64_t>() + rep["unserved"].get<std::uint64_t>() == due);
      served += rep["ops"].get<std::uint64_t>();
    }
    CHECK(row["service_ns"]["N"] == served);
    CHECK(row["response_ns"]["N"] == served);
    CHECK(row["response_ns"]["max"] >= row["service_ns"]["max"]);
  }
  CHECK_THAT(outcome.out,
             Contains("response: latency from the intended start") && Contains("overloaded: pread T02"));
  CHECK_THAT(outcome.out, !Contains("is fastest (") && !Contains("no fastest"));
}

TEST_CASE("a rate in percent becomes ops per second by the row's own capacity") {
  need_root();
  TempFolder folder;
  auto [outcome, record] = run(folder, untraced({"--rate", "25%,50%", "--reps", "1", "--duration", "0.1"}));
  const double quarter = row_of(record, "pread")["cell"]["rate"];
  CHECK(quarter > 0);
  for (const json& row : record["rows"])
    CHECK(row["cell"]["rate"].get<double>() == Approx(quarter * row["cell"]["rate_pct"].get<double>() / 25));
  CHECK_THAT(outcome.out, Contains("open loop at 25 % of each row's capacity"));
}

TEST_CASE("a closed loop has no responses, and computing stands in the heading") {
  need_root();
  TempFolder folder;
  auto [outcome, record] = run(folder, untraced({"--compute", "0,50us", "--reps", "1", "--ops", "46"}));
  REQUIRE(record["rows"].size() == 4);
  for (const json& row : record["rows"]) {
    CHECK(row["response_ns"].is_null());
    CHECK(row["untraced"]["reps"][0]["unserved"].is_null());
    CHECK(row["untraced"]["lat_ns"]["min"] >= row["cell"]["compute_ns"]);
  }
  CHECK_THAT(outcome.out, Contains("computing 50.0 us between hint and read"));
}

TEST_CASE("writes are as many as the seed says, and none where none are asked for") {
  need_root();
  TempFolder folder;
  const std::vector<std::string> words = {"--write-pct", "0,50,100",   "--reps",     "1",      "--ops",
                                          "23",          "--strategy", "pread,mmap", "--case", "as-is,warm",
                                          "--probes",    "off",        "--threads",  "1"};
  auto [outcome, record] = run(folder, words);
  std::set<int> at_half;
  for (const json& row : record["rows"]) {
    const json& writes = row["untraced"]["reps"][0]["writes"];
    const double asked = row["cell"]["write_pct"];
    CHECK(writes.is_null() == (asked == 0));
    const int written = writes.is_null() ? 0 : writes.get<int>();
    CHECK(row["requested_bytes"] == (23 * 16 - written) * 16384);  // what was read
    if (asked == 100) CHECK(written == 23 * 16);
    if (asked == 50) at_half.insert(written);
  }
  // One seed, one part of the batches, in every case and strategy, warmed up or not. 368 coins: 184, and 29
  // are three standard deviations.
  REQUIRE(at_half.size() == 1);
  CHECK(*at_half.begin() > 154);
  CHECK(*at_half.begin() < 214);
  CHECK(folder.entries() == std::vector<std::string>{"run.json"});
}

TEST_CASE("the churn thread holds mmap_lock twice a cycle, and what it does else is not the row's") {
  need_root();
  TempFolder folder;
  auto [outcome, record] = run(folder, {"--mmap-churn", "0,500", "--reps", "1", "--case", "resident",
                                        "--strategy", "mmap-random", "--threads", "2", "--duration", "0.2"});
  std::size_t churned = 0;
  for (const json& row : record["rows"]) {
    if (row["control"] == true || row["traced"].is_null()) continue;
    const json& done = row["traced"]["reps"][0]["churn_done"];
    const std::uint64_t cycles = done.is_null() ? 0 : done.get<std::uint64_t>();
    CHECK(done.is_null() == (row["cell"]["mmap_churn"] == 0.0));
    churned += cycles;
    if (!row["mmap_lock"].is_null()) {
      CHECK(row["mmap_lock"]["write"]["acquired"] == 0);  // by the readers
      CHECK(row["mmap_lock"]["write"]["hold_ns"]["N"] == 2 * cycles);
    }
    for (const json& call : row["syscalls"]) CHECK((call["name"] != "mmap" && call["name"] != "munmap"));
    if (!row["faults"].is_null() && !row["faults"]["minor"].is_null())
      CHECK(row["faults"]["minor"] == row["rusage"]["minor_faults"]);
    // 16 MiB are 4096 pages, each of which 2 threads fault on at most once, and some of their own.
    CHECK(row["rusage"]["minor_faults"] < 2 * 4096 + 64);
  }
  CHECK(churned > 0);
}
