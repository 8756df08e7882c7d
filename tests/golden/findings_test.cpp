// Each finding with a record that makes it fire, and the nearest records that must not.

#include "analysis/findings/finding.h"

#include <catch2/catch.hpp>

#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

// One row of 64 WILLNEED calls, some of which failed.
RunRecord hints_of(std::vector<MadviseCount> madvise) {
  Row row = hinted_row(1, kOps);
  row.madvise = std::move(madvise);
  return record_of({row});
}

std::string sentence(const RunRecord& record) {
  auto findings = fired(record, "hint-rejected");
  REQUIRE(findings.size() == 1);
  return findings[0].severity + ": " + findings[0].text + " " + findings[0].remedy;
}

// A row that must differ from the one before it, and does not.
RunRecord identical_rows() {
  return record_of({mmap_random_row("mmap-random", 1, kOps), misaligned_row(1, kOps)});
}

bool rows_identical(RunRecord record) {
  summarise(record);
  return !fired(record, "rows-identical").empty();
}

}

TEST_CASE("hint-rejected: misaligned starts of all rows are one finding") {
  RunRecord record = record_of({misaligned_row(1, kOps), misaligned_row(4, kOps), hinted_row(1, kOps)});
  auto findings = fired(record, "hint-rejected");
  REQUIRE(findings.size() == 1);
  const Finding& finding = findings[0];
  CHECK(finding.severity == "fail");
  CHECK(finding.rows == std::vector<std::uint32_t>{0, 1});
  CHECK(finding.text ==
        "prefetch does nothing in mmap-random-willneed-misaligned: 3840/3840 madvise(WILLNEED) = "
        "EINVAL, address not a multiple of 4096.");
  CHECK(finding.remedy == "Round the start down to the page.");
  CHECK(finding.numbers ==
        std::map<std::string, double>{
            {"issued", 3840}, {"rejected", 3840}, {"misaligned", 3840}, {"rejected_ratio", 1}});
}

TEST_CASE("hint-rejected: the counts of Lucene PR 16279") {
  CHECK(sentence(hints_of({{"WILLNEED", "EINVAL", 5117, 5117, 0}, {"WILLNEED", std::nullopt, 64, 0, 0}})) ==
        "fail: at least half of the prefetch does nothing in mmap-random-willneed: 5117/5181 "
        "madvise(WILLNEED) = "
        "EINVAL, address not a multiple of 4096. Round the start down to the page.");
}

TEST_CASE("hint-rejected: an address that happens to be aligned changes next to nothing") {
  CHECK(sentence(hints_of({{"WILLNEED", std::nullopt, 1, 0, 0}, {"WILLNEED", "EINVAL", 5391, 5391, 0}})) ==
        "fail: prefetch does next to nothing in mmap-random-willneed: 5391/5392 madvise(WILLNEED) = EINVAL, "
        "address "
        "not a multiple of 4096. Round the start down to the page.");
}

TEST_CASE("hint-rejected: less than half is a warning") {
  CHECK(
      sentence(hints_of({{"WILLNEED", "EAGAIN", 1, 0, 0}, {"WILLNEED", std::nullopt, 63, 0, 0}})) ==
      "warn: part of the prefetch does nothing in mmap-random-willneed: 1/64 madvise(WILLNEED) = EAGAIN, the "
      "kernel was short of memory. Hint less at once, or give it memory.");
}

TEST_CASE("hint-rejected: EINVAL at aligned starts is about the length") {
  CHECK(
      sentence(hints_of({{"WILLNEED", "EINVAL", 64, 0, 0}})) ==
      "fail: prefetch does nothing in mmap-random-willneed: 64/64 madvise(WILLNEED) = EINVAL, each address a "
      "multiple of 4096. Check the length: rounded up to pages it is 0 (a negative number?) or it runs past "
      "the "
      "end of the address space.");
}

TEST_CASE("hint-rejected: ENOMEM hints the mapped part, so the prefetch is not said to do nothing") {
  CHECK(
      sentence(hints_of({{"WILLNEED", "ENOMEM", 64, 0, 0}})) ==
      "fail: hints fail in mmap-random-willneed: 64/64 madvise(WILLNEED) = ENOMEM, part of the range is not "
      "mapped; the rest was hinted. Clamp the range to the mapping.");
}

TEST_CASE("hint-rejected: the commonest error leads, the others are counted") {
  CHECK(sentence(hints_of({{"WILLNEED", "EBADF", 3, 0, 0}, {"WILLNEED", "EINVAL", 61, 60, 0}})) ==
        "fail: prefetch does nothing in mmap-random-willneed: 61/64 madvise(WILLNEED) = EINVAL, 60 of them "
        "at an "
        "address that is not a multiple of 4096; 3 = EBADF. Round the start down to the page, and check the "
        "length: a negative one is EINVAL too.");
}

TEST_CASE("hint-rejected is silent where nothing was rejected or nothing is known") {
  CHECK(fired(record_of({hinted_row(1, kOps)}), "hint-rejected").empty());
  CHECK(fired(hints_of({}), "hint-rejected").empty());
  CHECK(fired(hints_of({{"DONTNEED", "EINVAL", 64, 64, 0}}), "hint-rejected").empty());
  RunRecord unknown = hints_of({});
  unknown.rows[0].madvise = std::nullopt;
  CHECK(fired(unknown, "hint-rejected").empty());
  CHECK(judge(example_record()).empty());
}

TEST_CASE("rows-identical: a hint without effect, over all its cells") {
  RunRecord record = record_of({mmap_random_row("mmap-random", 1, kOps), misaligned_row(1, kOps),
                                mmap_random_row("mmap-random", 4, kOps), misaligned_row(4, kOps)});
  auto findings = fired(record, "rows-identical");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == "fail");
  CHECK(findings[0].rows == std::vector<std::uint32_t>{1, 0, 3, 2});
  CHECK(findings[0].text == "mmap-random-willneed-misaligned equals mmap-random: ratio [95 % interval] 1.00 "
                            "[0.98-1.02] (cold random "
                            "T01, n 6), 1.00 [0.98-1.02] (cold random T04, n 6), and so do faults by kind, "
                            "pages added and device bytes "
                            "per op: the strategy had no effect.");
  CHECK(findings[0].remedy == "Its hints are refused: look at the return value of madvise.");
  CHECK(findings[0].numbers.at("cells") == 2);
}

TEST_CASE("rows-identical: the remedy follows from the hints that were seen") {
  RunRecord record = identical_rows();
  record.rows[1].madvise->clear();
  CHECK(fired(record, "rows-identical").at(0).remedy ==
        "No madvise(WILLNEED) was seen: check that the call is reached.");
  record.rows[1].madvise = {{.advice = "WILLNEED", .calls = 1920}};
  CHECK(fired(record, "rows-identical").at(0).remedy ==
        "Its hints are accepted: check that they cover the bytes that are read next.");
  record.rows[1].madvise = std::nullopt;
  CHECK(fired(record, "rows-identical").at(0).remedy ==
        "Check that what it does beyond the other is really done, and is not refused.");
}

TEST_CASE("rows-identical is silent for a hint that works at the same speed") {
  CHECK_FALSE(rows_identical(record_of({mmap_random_row("mmap-random", 1, kOps), hinted_row(1, kOps)})));
}

TEST_CASE("rows-identical needs every sign") {
  REQUIRE(rows_identical(identical_rows()));

  SECTION("the speed differs") {
    RunRecord record = identical_rows();
    for (Repetition& rep : record.rows[1].untraced->reps) rep.ops = rep.ops * 107 / 100;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("the interval is wider than 5 %") {
    RunRecord record = identical_rows();
    record.rows[1].untraced->reps[0].ops = record.rows[1].untraced->reps[1].ops = 140;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("fewer than 6 repetitions") {
    RunRecord record = identical_rows();
    record.rows[1].untraced->reps.pop_back();
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("the pages were there before, or nobody knows") {
    RunRecord record = identical_rows();
    record.rows[0].traced->reps[0].residency_before_ratio = 0.5;
    CHECK_FALSE(rows_identical(record));
    record.rows[0].traced->reps[0].residency_before_ratio = std::nullopt;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("faults differ by kind, though not in number") {
    RunRecord record = identical_rows();
    record.rows[1].faults->read->count -= 400;  // of 9600
    record.rows[1].faults->waited->count += 400;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("faults were not counted") {
    RunRecord record = identical_rows();
    record.rows[1].faults->read = std::nullopt;
    CHECK_FALSE(rows_identical(record));
    record.rows[1].faults = std::nullopt;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("there are no faults to compare") {
    RunRecord record = identical_rows();
    for (Row& row : record.rows) row.faults->read->count = 0;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("pages added differ") {
    RunRecord record = identical_rows();
    *record.rows[1].page_cache->added_pages *= 2;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("device bytes differ or are unknown") {
    RunRecord record = identical_rows();
    *record.rows[1].device_bytes *= 2;
    CHECK_FALSE(rows_identical(record));
    record.rows[1].device_bytes = std::nullopt;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("error, drift, control, another cell") {
    RunRecord record = identical_rows();
    record.rows[0].error = "EIO";
    CHECK_FALSE(rows_identical(record));
    record = identical_rows();
    for (Repetition& rep : record.rows[1].untraced->reps) rep.drifted = true;
    CHECK_FALSE(rows_identical(record));
    record = identical_rows();
    record.rows[0].control = true;
    CHECK_FALSE(rows_identical(record));
    record = identical_rows();
    record.rows[0].threads = 4;
    CHECK_FALSE(rows_identical(record));
  }
  SECTION("nothing says that they have to differ") {
    RunRecord record = identical_rows();
    record.rows[1].expects.differs_from = std::nullopt;
    CHECK_FALSE(rows_identical(record));
  }
}

TEST_CASE("rows-identical does without the page ledger") {
  RunRecord record = identical_rows();
  record.rows[1].page_cache = std::nullopt;
  CHECK(fired(record, "rows-identical").at(0).text.find("faults by kind and device bytes") !=
        std::string::npos);
}

TEST_CASE("findings come worst first") {
  RunRecord record =
      record_of({hinted_row(1, kOps), mmap_random_row("mmap-random", 1, kOps), misaligned_row(1, kOps)});
  record.rows[0].madvise->push_back({.advice = "WILLNEED", .error = "EAGAIN", .calls = 1});
  auto findings = judge(record);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].id == "hint-rejected");
  CHECK(findings[0].severity == "fail");
  CHECK(findings[1].id == "rows-identical");
  CHECK(findings[2].severity == "warn");
}
