// Each finding that a run can bring about, in a run that does and in a sibling that does not. Judged by the
// record's numbers, never by time.

#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

#include "tests/cli/program.h"
#include "tests/cli/record_queries.h"
#include "tests/cli/system_call_filter.h"
#include "tests/skip.h"

using namespace iotrace::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr std::size_t kReadsPerOp = 16;

// The record of a run with one thread on a scratch file.
json record_of(const std::string& strategies, const std::vector<std::string>& more,
               std::function<bool()> prepare = {}) {
  TempFolder folder;
  std::vector<std::string> words{"run", "--threads", "1",          "--seed",  "7",
                                 "-o",  "run.json",  "--strategy", strategies};
  words.insert(words.end(), more.begin(), more.end());
  Outcome outcome = run_iotrace(words, {.folder = folder.path(), .prepare = std::move(prepare)});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  json record = read_json(folder.path() / "run.json");
  for (const json& row : record["rows"]) REQUIRE(row["error"].is_null());
  return record;
}

const std::vector<std::string> kCold23{"--case", "cold", "--size", "64M", "--reps", "1", "--ops", "23"};

json rows(std::initializer_list<std::size_t> indexes) {
  return json(std::vector<std::size_t>(indexes));
}

}

TEST_CASE("hint-rejected: misaligned hints, and no word on aligned ones") {
  need_root();
  const json bad = record_of("mmap-random-willneed-misaligned", kCold23);
  const json finding = the_finding(bad, "hint-rejected");
  CHECK(finding["severity"] == "fail");
  CHECK(finding["rows"] == rows({row_index(bad, "mmap-random-willneed-misaligned")}));
  const json& numbers = finding["numbers"];
  CHECK(numbers["issued"] == 23 * kReadsPerOp);
  CHECK(numbers["rejected"] == numbers["misaligned"]);
  CHECK(numbers["rejected"].get<double>() >= 23 * kReadsPerOp - 2);  // 1 offset of 4096 is aligned by chance
  CHECK(is_silent(record_of("mmap-random-willneed", kCold23), "hint-rejected"));
}

TEST_CASE("no-hint-issued: hints that are answered without being made, and no word on those that are") {
  need_root();
  // What a program meets whose hints go to a stub: each is a success, and the kernel knows of none.
  auto swallow_hints = [] {
    return take_away({.number = SYS_madvise, .argument = 2, .value = MADV_WILLNEED}, 0);
  };
  const json without = record_of("mmap-random-willneed", kCold23, swallow_hints);
  const json finding = the_finding(without, "no-hint-issued");
  CHECK(finding["severity"] == "fail");
  CHECK(finding["rows"] == rows({row_index(without, "mmap-random-willneed")}));
  CHECK(finding["numbers"] == json{{"hints", 0}, {"reads", 23 * kReadsPerOp}});
  CHECK(is_silent(without, "hint-rejected"));

  const json& row = row_of(without, "mmap-random-willneed");
  CHECK(row["madvise"].empty());
  CHECK(row["syscalls"].empty());
  CHECK(row["page_cache"]["by"]["hint"] == 0);
  CHECK(row["page_cache"]["by"]["fault"] == row["page_cache"]["added_pages"]);
  CHECK(row["faults"]["read"]["count"] == row["page_cache"]["added_pages"]);
  // What stands before the tracing of a call's start does not stand before that of its end.
  for (const json& probe : row["probes"]) {
    CHECK(probe["lost"] == 0);
    CHECK(probe["unmatched"] == (probe["name"] == "syscalls" ? 23 * kReadsPerOp : 0));
  }

  const json with = record_of("mmap-random-willneed", kCold23);
  CHECK(is_silent(with, "no-hint-issued"));
  const json& hinted = row_of(with, "mmap-random-willneed");
  CHECK(hinted["madvise"][0]["calls"] == 23 * kReadsPerOp);
  // One seed, the same pages: all that the faults had to read there, hints have read here.
  CHECK(hinted["page_cache"]["by"]["hint"] == row["page_cache"]["by"]["fault"]);
}

TEST_CASE("no-hint-issued says nothing of a strategy that is not there to hint") {
  need_root();
  CHECK(is_silent(record_of("mmap-random,pread", kCold23), "no-hint-issued"));
}

TEST_CASE("readahead-waste: random reads under MADV_NORMAL, and no word on MADV_RANDOM") {
  need_root();
  const std::vector<std::string> cold{"--case", "cold",  "--size", "128M",           "--reps",
                                      "1",      "--ops", "1",      "--reads-per-op", "4"};
  const json record = record_of("mmap,mmap-random", cold);
  const json& readahead = record["file"]["read_ahead_bytes"];
  if (!readahead.is_number() || readahead < 128 * 1024) skip("the device under /tmp hardly reads ahead");

  const json finding = the_finding(record, "readahead-waste");
  CHECK(finding["rows"] == rows({row_index(record, "mmap")}));
  const json& pages = row_of(record, "mmap")["page_cache"];
  const json& numbers = finding["numbers"];
  CHECK(numbers["readahead_pages"] == pages["by"]["readahead"]);
  CHECK(numbers["wasted_pages"].get<double>() <= pages["wasted_pages"].get<double>());
  // 4 reads of 16 KiB at any byte use at most 20 pages.
  CHECK(numbers["wasted_pages"].get<double>() >= numbers["readahead_pages"].get<double>() - 20);
  CHECK(numbers["amplification_most"] == row_of(record, "mmap")["amplification_ratio"]);
  CHECK(row_of(record, "mmap-random")["page_cache"]["by"]["readahead"] == 0);

  CHECK(is_silent(record_of("mmap-random", cold), "readahead-waste"));
}

TEST_CASE("major-faults-serial: 16 KiB read page by page, and no word where a hint goes first") {
  need_root();
  const json record = record_of("mmap-random,mmap-random-willneed", kCold23);
  const json finding = the_finding(record, "major-faults-serial");
  CHECK(finding["rows"] == rows({row_index(record, "mmap-random")}));
  const json& numbers = finding["numbers"];
  CHECK(numbers["read_faults"] == row_of(record, "mmap-random")["faults"]["read"]["count"]);
  CHECK(numbers["reads"] == 23 * kReadsPerOp);
  CHECK(numbers["faults_per_read"].get<double>() > 4);  // 16 KiB at any byte are 5 pages, 4 if aligned
  CHECK(numbers["faults_per_read"].get<double>() <= 5);
  CHECK(row_of(record, "mmap-random-willneed")["faults"]["read"]["count"] == 0);

  CHECK(is_silent(record_of("mmap-random-willneed,pread", kCold23), "major-faults-serial"));
}

TEST_CASE("cache-state: a small file that readahead pulls in, and no word where it stays cold") {
  need_root();
  const std::vector<std::string> cold{"--case", "cold", "--size",         "4M", "--reps", "2",
                                      "--ops",  "1",    "--reads-per-op", "32"};
  const json drifted = record_of("mmap", cold);
  const json& readahead = drifted["file"]["read_ahead_bytes"];
  if (!readahead.is_number() || readahead < 128 * 1024) skip("the device under /tmp hardly reads ahead");
  const json finding = the_finding(drifted, "cache-state");
  CHECK(finding["rows"] == rows({0, 1}));  // the row and its A/A control
  CHECK(finding["numbers"] == json{{"rows", 2}, {"of_rows", 2}});
  CHECK_THAT(finding["remedy"].get<std::string>(), Contains("--size"));
  for (const json& row : drifted["rows"]) {
    CHECK(row["drifted"] == true);
    for (const json& repetition : row["untraced"]["reps"])
      CHECK(repetition["residency_after_ratio"].get<double>() > 0.5);
  }

  const json stayed = record_of("direct,pread", cold);
  CHECK(is_silent(stayed, "cache-state"));
  for (const json& row : stayed["rows"]) CHECK(row["drifted"] == false);
}

namespace {

const std::vector<std::string> kCold5{"--case", "cold", "--size", "64M", "--reps", "1", "--ops", "5"};

// The finding on the run of mmap-random whose machine lacks what one probe cannot do without.
//   beside  probes that stand on the same hook, and are gone with it
void check_unavailable(const json& record, const std::string& probe, const std::string& reason,
                       const std::set<std::string>& beside = {}) {
  const auto found = findings_of(record, "probe-unavailable");
  INFO(record["findings"].dump(1));
  REQUIRE(found.size() == 1 + beside.size());
  const auto named = std::ranges::find_if(found, [&](const json& one) {
    return one["text"].get<std::string>().find("probe " + probe + " did not attach") != std::string::npos;
  });
  REQUIRE(named != found.end());
  const json& finding = *named;
  CHECK(finding["severity"] == "warn");
  CHECK(finding["rows"] == rows({row_index(record, "mmap-random")}));
  CHECK(finding["numbers"] == json{{"probes", 1}, {"rows", 1}});
  CHECK_THAT(finding["text"].get<std::string>(),
             Contains("probe " + probe + " did not attach") && Contains(reason));
  const json& row = row_of(record, "mmap-random");
  CHECK(row[probe].is_null());
  CHECK_THAT(row["unavailable"].value(probe, ""), Contains(reason));
  for (const json& status : row["probes"]) {
    const std::string name = status["name"];
    INFO(name);
    CHECK(status["variant"].is_null() == (name == probe || beside.contains(name)));
  }
  // What needs the missing numbers cannot tell, and says nothing.
  CHECK(is_silent(record, "major-faults-serial"));
}

}

TEST_CASE("probe-unavailable: without BPF links the page ledger is unknown, and the other probes work") {
  need_root();
  const json record = record_of("mmap-random", kCold5, [] {
    return take_away({.number = SYS_bpf, .argument = 0, .value = BPF_LINK_CREATE}, EPERM);
  });
  check_unavailable(record, "page_cache", "EPERM", {"block_io", "readahead", "reclaim"});
  const json& faults = row_of(record, "mmap-random")["faults"];
  CHECK(faults["major"].get<double>() > 0);
  CHECK(faults["read"].is_null());  // which faults read a page, only the ledger tells
}

TEST_CASE("probe-unavailable: without software events faults are unknown, and the other probes work") {
  need_root();
  const json record = record_of("mmap-random", kCold5, [] {
    // Of all processes (pid -1).
    return take_away({.number = SYS_perf_event_open, .argument = 1, .value = ~0u}, EACCES);
  });
  check_unavailable(record, "faults", "EACCES");
  const json& pages = row_of(record, "mmap-random")["page_cache"];
  CHECK(pages["added_pages"].get<double>() > 0);
  CHECK(pages["by"]["fault"] == pages["added_pages"]);
}

TEST_CASE("probe-unavailable says nothing where all probes work") {
  need_root();
  const json record = record_of("mmap-random", kCold5);
  CHECK(is_silent(record, "probe-unavailable"));
  CHECK_FALSE(is_silent(record, "major-faults-serial"));
}

TEST_CASE("too-few-repetitions: three, and no word on six") {
  const std::vector<std::string> bare{"--probes", "off", "--case", "as-is", "--size", "8M", "--ops", "5"};
  auto with_reps = [&](const char* reps) {
    auto words = bare;
    words.insert(words.end(), {"--reps", reps});
    return record_of("pread,mmap", words);
  };
  const json few = with_reps("3");
  const json finding = the_finding(few, "too-few-repetitions");
  CHECK(finding["severity"] == "info");
  CHECK(finding["rows"] == rows({0, 1, 2}));
  CHECK(finding["numbers"] == json{{"rows", 3}, {"fewest", 3}, {"needed", 6}});
  CHECK(few["rows"][0]["untraced"]["ops_per_ms"]["low"].is_null());

  const json enough = with_reps("6");
  CHECK(is_silent(enough, "too-few-repetitions"));
  CHECK(enough["rows"][0]["untraced"]["ops_per_ms"]["low"].is_number());
}
