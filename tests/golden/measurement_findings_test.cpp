// Findings about the measurement itself: states that were not reached, probes that lost or did not attach,
// too few repetitions.

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::vector<std::string> sentences(const RunRecord& record, std::string_view id) {
  std::vector<std::string> all;
  for (const Finding& finding : fired(record, id))
    all.push_back(finding.severity + ": " + finding.text + " " + finding.remedy);
  return all;
}

using Sentences = std::vector<std::string>;

}

TEST_CASE("cache-state: rows of one cause are one finding, with the controller's reason") {
  RunRecord record =
      record_of({cold_row("pread", 1, kOps), cold_row("pread", 4, kOps), cold_row("direct", 1, kOps)});
  record.rows[0].error = record.rows[1].error = "could not reach 'cold': 3.10 % of the file stays resident "
                                                "after eviction; another process maps, locks or reads it";
  record.rows[2].error = "open with O_DIRECT: EINVAL";
  CHECK(sentences(record, "cache-state") ==
        Sentences{"warn: no numbers for 2 rows, pread cold random T01 T04: could not reach 'cold': 3.10 % of "
                  "the file stays "
                  "resident after eviction; another process maps, locks or reads it. End what maps, locks or "
                  "reads the "
                  "file (fuser -v), or leave out --file for a scratch file."});

  record.rows[0].error =
      "could not reach 'warm': only 40.00 % of the file is resident after reading it in; memory is too small";
  record.rows[1].error = "'resident' did not last: only 90.00 % of the file was resident after the window";
  record.rows[2].error = "'warm' was not reached: 500 page faults in 320 reads";
  CHECK(sentences(record, "cache-state").size() == 3);
}

TEST_CASE("cache-state: drifted rows, and the size that would keep them cold") {
  RunRecord record = record_of({cold_row("mmap", 1, kOps), cold_row("pread", 1, kOps)});
  record.rows[0].untraced = measured(kOps, 0.98);
  summarise(record);
  CHECK(
      sentences(record, "cache-state") ==
      Sentences{
          "warn: the file warmed up under 1 row, mmap cold random T01 (up to 98 % of it in the cache "
          "afterwards): "
          "device and cache are mixed there, and no rank is given. Use --size 2G or more (an estimate), or a "
          "shorter --duration."});
}

TEST_CASE("cache-state is silent for rows in their state, and for other errors") {
  RunRecord record = record_of({cold_row("pread", 1, kOps)});
  CHECK(sentences(record, "cache-state").empty());
  record.rows[0].error = "open with O_DIRECT: EINVAL";
  CHECK(sentences(record, "cache-state").empty());
}

TEST_CASE("events-lost: how many of how many, by probe") {
  RunRecord record = record_of({mmap_random_row("mmap-random", 1, kOps), cold_row("pread", 4, kOps)});
  record.rows[0].probes[0].lost = 400;  // beside 9600 faults that were counted
  record.rows[1].probes[1].lost = 1;    // no calls counted: not "1 of 1"
  CHECK(sentences(record, "events-lost") ==
        Sentences{"fail: probe faults lost 400 events of 10000 (mmap-random cold random T01): its numbers "
                  "there are lower "
                  "bounds. Repeat these rows with --probes faults alone, or with fewer threads.",
                  "fail: probe syscalls lost 1 event (pread cold random T04): its numbers there are lower "
                  "bounds. Repeat "
                  "these rows with --probes syscalls alone, or with fewer threads."});
  CHECK(judge(record).front().id == "events-lost");
}

TEST_CASE("events-lost: ends without a start are no loss") {
  RunRecord record = record_of({mmap_random_row("mmap-random", 1, kOps)});
  record.rows[0].probes[0].unmatched = 5;
  CHECK(sentences(record, "events-lost").empty());
}

TEST_CASE("probe-unavailable: probes with one reason share a finding") {
  RunRecord record = record_of({cold_row("pread", 1, kOps), cold_row("pread", 4, kOps)});
  for (Row& row : record.rows)
    for (ProbeStatus& probe : row.probes) {
      probe.variant = std::nullopt;
      probe.reason = "EPERM; run with sudo";
    }
  CHECK(sentences(record, "probe-unavailable") ==
        Sentences{"warn: probes faults, syscalls did not attach, so that their numbers are unknown (not 0) "
                  "and findings "
                  "that need them are silent: EPERM; run with sudo. Run iotrace doctor: it names what is "
                  "missing here and "
                  "what to do."});
  CHECK(fired(record, "probe-unavailable")[0].rows == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("probe-unavailable: a lesser variant is a variant") {
  RunRecord record = record_of({cold_row("pread", 1, kOps)});
  record.rows[0].probes[0].reason = "tp_btf: no BTF";
  CHECK(sentences(record, "probe-unavailable").empty());
}

TEST_CASE("too-few-repetitions: which rows, and how many it takes") {
  RunRecord record = record_of(
      {cold_row("pread", 1, {500, 505}), cold_row("pread", 4, {500, 505, 510}), cold_row("direct", 1, kOps)});
  CHECK(sentences(record, "too-few-repetitions") ==
        Sentences{"info: nothing is called faster or slower for 2 of 3 rows: 2 to 3 repetitions each, and a "
                  "95 % interval "
                  "of the median takes 6. Run with --reps 6 or more."});
}

TEST_CASE("too-few-repetitions is silent from six on, and where nothing was measured") {
  CHECK(sentences(record_of({cold_row("pread", 1, kOps)}), "too-few-repetitions").empty());
  Row row = cold_row("pread", 1, {500});
  row.error = "EIO";
  CHECK(sentences(record_of({row}), "too-few-repetitions").empty());
  row = cold_row("pread", 1, {500});
  row.untraced = row.traced = std::nullopt;
  CHECK(sentences(record_of({row}), "too-few-repetitions").empty());
}
