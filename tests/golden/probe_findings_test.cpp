// What became of hints, as findings: each with a record that makes it fire, and the nearest records that must
// not.

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string only_sentence(const RunRecord& record, std::string_view id) {
  auto findings = fired(record, id);
  REQUIRE(findings.size() == 1);
  return findings[0].severity + ": " + findings[0].text + " " + findings[0].remedy;
}

bool silent(const RunRecord& record, std::string_view id) {
  return fired(record, id).empty();
}

const std::vector<Count> kHintedOps{650, 655, 640, 645, 651, 652};

// 650 ops of one thread in one second, 19500 faults of which wait 40 us each.
Row hinting(const Hints& hints) {
  Row row = hinted_row(1, kHintedOps);
  row.hints = hints;
  row.syscalls = {{.name = "madvise", .calls = 10400, .lat_ns = latencies(10400, 5'000)}};
  return row;
}

Row late_row(Count late, Count in_time) {
  return hinting({.issued = 10400, .in_time_pages = in_time, .late_pages = late});
}

// Warm: all but 2000 of the hinted pages are there, and the calls take 52 ms of the second.
Row needless_row() {
  Row row = hinting({.issued = 10400,
                     .in_time_pages = 1500,
                     .late_pages = 300,
                     .needless_pages = 50'000,
                     .useless_pages = 200});
  row.case_name = "warm";
  return row;
}

Row backoff_row() {
  Row row = hinting({.issued = 400, .suppressed = 10'000, .suppressed_absent_pages = 13'000});
  row.strategy = "mmap-random-willneed-backoff";
  return row;  // 52000 pages came in
}

// Ten hints of 64 MiB, of each of which the kernel reads 8 MiB.
Row truncated_row() {
  Row row = hinting({.issued = 10, .truncated_pages = 10 * 14'336});
  row.madvise = {{.advice = "WILLNEED", .calls = 10, .requested_bytes = 10ull * (64 << 20)}};
  return row;
}

}

TEST_CASE("prefetch-late: how many of the pages that were read, how long they were waited for") {
  const RunRecord record = record_of({late_row(31'200, 19'500)});
  CHECK(
      only_sentence(record, "prefetch-late") ==
      "warn: hints come late in mmap-random-willneed: of 50700 hinted pages that were read, 61.5 %, 3.00 a "
      "hint, "
      "were still in flight when they were touched (cold random T01); faults on pages in flight waited 40.0 "
      "us (p50), "
      "40.0 us (p99), 78 % of its threads' time. Hint earlier: more work or a larger batch between hint and "
      "read (--compute shows how much it takes).");
  CHECK(fired(record, "prefetch-late")[0].numbers.at("late_ratio") == Approx(31'200 / 50'700.0));
}

TEST_CASE("prefetch-late: few pages are many where their waits are much of the time") {
  auto severity = [](Count late, Count in_time, std::uint64_t wait_ns) {
    Row row = late_row(late, in_time);
    row.faults->waited = faults_of(9'000, wait_ns);
    const auto findings = fired(record_of({row}), "prefetch-late");
    return findings.empty() ? "" : findings.at(0).severity;
  };
  CHECK(severity(31'200, 19'500, 10'000) == "warn");  // 9 % of the second
  CHECK(severity(19'500, 31'200, 10'000) == "info");
  CHECK(severity(9'000, 91'000, 10'000).empty());  // 9 % of the pages
  CHECK(severity(9'000, 91'000, 40'000) == "info");
  // Seven of nine waits were for pages that nobody hinted: read ahead.
  CHECK(severity(2'000, 98'000, 40'000).empty());
}

TEST_CASE("prefetch-late: with more work between hint and read the share falls") {
  Row worked = late_row(1'950, 48'750);
  worked.cell.compute_ns = 500'000;
  const std::string text = only_sentence(record_of({late_row(31'200, 19'500), worked}), "prefetch-late");
  CHECK(text.find("; with 500 us of work between hint and read it is 3.8 %.") != std::string::npos);
  // Other reads say nothing about these.
  worked.pattern = "zipf";
  CHECK(only_sentence(record_of({late_row(31'200, 19'500), worked}), "prefetch-late").find("500 us") ==
        std::string::npos);
}

TEST_CASE("prefetch-late is silent where few are late, nothing is waited for, or nobody knows") {
  auto quiet = [](auto change) {
    Row row = late_row(31'200, 19'500);
    change(row);
    return silent(record_of({row}), "prefetch-late");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) {
    row.hints->late_pages = 4'800;  // 19.8 %
    row.faults->waited = faults_of(4'800, 40'000);
  }));
  CHECK(quiet([](Row& row) { row.hints->late_pages = 60, row.hints->in_time_pages = 30; }));
  CHECK(quiet([](Row& row) { row.faults->waited = faults_of(100, 40'000); }));  // 4 ms of the second
  CHECK(quiet([](Row& row) { row.hints->late_pages = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.hints->in_time_pages = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.hints = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.error = "EIO"; }));
  // Reading calls wait inside themselves: no faults, and hints are late all the same.
  CHECK_FALSE(quiet([](Row& row) { row.faults = std::nullopt; }));
}

TEST_CASE("prefetch-needless: how many were there, and what the calls cost") {
  Row without = mmap_random_row("mmap-random", 1, {1300, 1310, 1280, 1290, 1302, 1304});
  without.case_name = "warm";
  CHECK(only_sentence(record_of({needless_row(), without}), "prefetch-needless") ==
        "info: prefetch is needless in mmap-random-willneed: of 52000 hinted pages, 96.2 % were resident "
        "already "
        "(warm random T01); madvise took 5.2 % of its threads' time, 5.00 us a call; mmap-random, which does "
        "neither, is 2.00 times as fast there. Back off while the file is "
        "resident; asking mincore before each hint costs a call as well.");
  CHECK(only_sentence(record_of({needless_row()}), "prefetch-needless").find("as fast") == std::string::npos);
  Row dear = needless_row();
  dear.syscalls->at(0).lat_ns = latencies(10400, 20'000);
  CHECK(fired(record_of({dear}), "prefetch-needless").at(0).severity == "warn");
}

TEST_CASE("prefetch-needless: looks by mincore after which nothing had to be hinted") {
  Row asking = needless_row();
  asking.strategy = "mmap-random-willneed-mincore";
  asking.hints = Hints{.issued = 104};
  asking.madvise = {{.advice = "WILLNEED", .calls = 104, .requested_bytes = 104 * 16384}};
  asking.syscalls = {{.name = "madvise", .calls = 104, .lat_ns = latencies(104, 5'000)},
                     {.name = "mincore", .calls = 10400, .lat_ns = latencies(10400, 3'000)}};
  CHECK(
      only_sentence(record_of({asking}), "prefetch-needless") ==
      "info: asking before a hint is needless in mmap-random-willneed-mincore: of 10400 looks by mincore, 99 "
      "% "
      "found the pages resident (warm random T01); madvise and mincore took 3.2 % of its threads' time, 3.02 "
      "us a call. Look less often while the file is resident: a back-off that a miss ends.");
}

TEST_CASE("prefetch-needless is silent where the calls cost next to nothing, or most hints are needed") {
  auto quiet = [](auto change) {
    Row row = needless_row();
    change(row);
    return silent(record_of({row}), "prefetch-needless");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.syscalls->at(0).lat_ns = latencies(10400, 1'500); }));  // 1.6 %
  CHECK(quiet([](Row& row) { row.hints->in_time_pages = 49'600; }));                     // half of them
  CHECK(quiet([](Row& row) { row.hints->useless_pages = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.hints->needless_pages = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.hints = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.syscalls = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.syscalls->at(0).lat_ns = std::nullopt; }));
  // What other calls cost is not the hints'.
  CHECK(quiet([](Row& row) { row.syscalls->at(0).name = "pread64"; }));
}

TEST_CASE("backoff-suppressed: hints that it withheld, and pages that a fault had to read") {
  const RunRecord record = record_of({backoff_row()});
  CHECK(
      only_sentence(record, "backoff-suppressed") ==
      "warn: the back-off of mmap-random-willneed-backoff withholds hints that were needed: 13000 pages of "
      "10000 withheld hints were absent and had to be read by a fault, 25 % of the pages that came into the "
      "cache (cold random T01). Hint always where the mapping is MADV_RANDOM, or ask mincore each time, "
      "without the counter.");
  Row always = hinted_row(1, {1300, 1310, 1280, 1290, 1302, 1304});
  CHECK(only_sentence(record_of({backoff_row(), always}), "backoff-suppressed")
            .find("; mmap-random-willneed is 2.00 times as fast there.") != std::string::npos);
  Row most = backoff_row();
  most.hints->suppressed_absent_pages = 26'000;
  CHECK(fired(record_of({most}), "backoff-suppressed").at(0).severity == "fail");
}

TEST_CASE("backoff-suppressed is silent where what it withheld was resident, or nobody knows") {
  auto quiet = [](auto change) {
    Row row = backoff_row();
    change(row);
    return silent(record_of({row}), "backoff-suppressed");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.hints->suppressed_absent_pages = 2'599; }));  // of 52000
  CHECK(quiet([](Row& row) { row.hints->suppressed_absent_pages = 99, row.page_cache->added_pages = 99; }));
  CHECK(quiet([](Row& row) { row.hints->suppressed_absent_pages = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.hints->suppressed = 0; }));
  CHECK(quiet([](Row& row) { row.hints->suppressed = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.page_cache = std::nullopt; }));
}

TEST_CASE("hint-truncated: what one call asked for, and what it loads") {
  const RunRecord record = record_of({truncated_row()});
  CHECK(
      only_sentence(record, "hint-truncated") ==
      "fail: hints are cut short in mmap-random-willneed: one madvise(WILLNEED) over 64 MiB loads 8 MiB, and "
      "87.5 % of what 10 calls asked for is passed over without an error (cold random T01). Split it: hint "
      "8 MiB at a time.");
  Row some = truncated_row();
  some.hints->truncated_pages = 10 * 4'096;  // of 16384
  CHECK(fired(record_of({some}), "hint-truncated").at(0).severity == "warn");
}

TEST_CASE("hint-truncated: calls that tell no length still count what they left out") {
  Row row = truncated_row();
  row.madvise->clear();
  CHECK(
      only_sentence(record_of({row}), "hint-truncated") ==
      "warn: hints are cut short in mmap-random-willneed: 143360 pages lie beyond what the kernel reads for "
      "one call (cold random T01). Split each hint: the larger of read_ahead_kb and max_sectors_kb is read "
      "for one call.");
  // Calls that failed loaded nothing, and are no measure of what one loads.
  row.madvise = {{.advice = "WILLNEED", .error = "EINVAL", .calls = 9, .requested_bytes = 9ull * (64 << 20)}};
  CHECK(fired(record_of({row}), "hint-truncated").at(0).severity == "warn");
}

TEST_CASE("hint-truncated is silent where nothing was left out, or nobody knows") {
  Row row = truncated_row();
  row.hints->truncated_pages = 0;
  CHECK(silent(record_of({row}), "hint-truncated"));
  row.hints->truncated_pages = 10 * 819;  // 4.999 %
  CHECK(silent(record_of({row}), "hint-truncated"));
  row.hints->truncated_pages = std::nullopt;
  CHECK(silent(record_of({row}), "hint-truncated"));
  row.hints = std::nullopt;
  CHECK(silent(record_of({row}), "hint-truncated"));
  row = truncated_row();
  row.error = "EIO";
  CHECK(silent(record_of({row}), "hint-truncated"));
}
