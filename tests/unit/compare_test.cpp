// Which cells are compared, and what is proven of them.

#include <catch2/catch.hpp>

#include "tests/unit/compare_fixture.h"

using namespace iotrace;
using namespace iotrace::test;
using Catch::Matchers::Contains;

TEST_CASE("compare: repetitions that do not overlap prove a row faster than its counterpart") {
  auto all = compared({record_of({row("a", kSlow)}), record_of({row("a", kFast)})});
  REQUIRE(all);
  const Difference difference = the_difference(*all);
  CHECK(difference.verdict == Verdict::kFaster);
  CHECK(*difference.ratio.median == Approx(202.5 / 102.5).epsilon(0.01));
  CHECK(*difference.ratio.low < *difference.ratio.median);
  CHECK(*difference.p_adjusted == Approx(2.0 / 924));  // 2 / C(12, 6)
  CHECK(difference.place.record == 1);
  auto back = compared({record_of({row("a", kFast)}), record_of({row("a", kSlow)})});
  CHECK(the_difference(*back).verdict == Verdict::kSlower);
}

TEST_CASE("compare: two records of the very same strategy: no difference proven") {
  auto all = compared({record_of({row("a", kSlow)}), record_of({row("a", kSlowAgain)})});
  CHECK(the_difference(*all).verdict == Verdict::kNoneProven);
  CHECK(the_difference(*all).reason.empty());
  CHECK(the_difference(*all).moved.empty());
}

TEST_CASE("compare: Holm's correction covers the cells of all records") {
  auto all =
      compared({record_of({row("a", kSlow), row("b", kSlow)}), record_of({row("b", kFast), row("a", kFast)}),
                record_of({row("a", kSlow, 1), row("b", kFast)})});
  CHECK(all->tests == 4);
  const auto found = differences(*all);
  REQUIRE(found.size() == 4);
  for (std::size_t i : {0, 2, 3}) CHECK(*found[i].p_adjusted == Approx(4 * 2.0 / 924));
  CHECK(*found[1].p_adjusted == 1);
}

TEST_CASE("compare: five repetitions tell nothing, and 24 cells need a seventh") {
  auto few = compared({record_of({row("a", {1, 2, 3, 4, 5})}), record_of({row("a", {11, 12, 13, 14, 15})})});
  CHECK(the_difference(*few).verdict == Verdict::kCannotTell);
  CHECK(the_difference(*few).reason == "5 repetitions, too few for 1 comparison: 6 are needed");
  std::vector<Row> slow, fast;
  for (int i = 0; i < 24; ++i) {
    slow.push_back(row("s" + std::to_string(i), kSlow));
    fast.push_back(row("s" + std::to_string(i), kFast));
  }
  auto many = compared({record_of(slow), record_of(fast)});
  CHECK(differences(*many)[0].verdict == Verdict::kCannotTell);
  CHECK(differences(*many)[0].reason == "6 repetitions, too few for 24 comparisons: 7 are needed");
}

TEST_CASE("compare: a repetition without an op has no ratio, and the row no verdict") {
  auto all = compared({record_of({row("a", kSlow)}), record_of({row("a", {0, 201, 202, 203, 204, 205})})});
  CHECK(the_difference(*all).verdict == Verdict::kCannotTell);
  CHECK(the_difference(*all).reason == "a repetition finished no op, so that there is no ratio");
  CHECK(all->means.empty());
}

TEST_CASE("compare: nothing below the A/A noise floor of either record is a difference") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", {110, 111, 112, 113, 114, 115})});
  b.rows[0].noise_floor_ratio = 0.15;
  auto all = compared({a, b});
  CHECK(the_difference(*all).verdict == Verdict::kNoneProven);
  CHECK(the_difference(*all).reason == "within the noise floor of 15 %");
  CHECK(warns(*all, "1 of 1 differences are below the noise floor"));
  b.rows[0].noise_floor_ratio = 0.05;
  CHECK(the_difference(*compared({a, b})).verdict == Verdict::kFaster);
}

TEST_CASE("compare: cells match by all that was measured alike, but for the memory of another file size") {
  Row sized = row("a", kFast);
  sized.read_size_bytes = 16384;
  Row churned = row("a", kFast);
  churned.cell.mmap_churn = 2000;
  Row threads = row("a", kFast, 4);
  auto none = compared({record_of({row("a", kSlow)}), record_of({sized, churned, threads, row("b", kFast)})});
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == ErrorKind::kFailed);
  CHECK_THAT(none.error().message, Contains("a.json and b.json have no cell in common"));

  Row less = row("a", kFast);
  less.cell.memory_limit_bytes = 1 << 20;
  auto all = compared({record_of({sized, row("a", kSlow)}), record_of({less, churned})});
  CHECK(the_difference(*all).verdict == Verdict::kFaster);
  REQUIRE(all->unmatched.size() == 2);
  CHECK(all->row(all->unmatched[0]).read_size_bytes == 16384);
  CHECK(all->row(all->unmatched[1]).cell.mmap_churn == 2000);
  CHECK(all->unmatched[1].record == 1);
}

TEST_CASE("compare: the A/A control is nobody's counterpart") {
  RunRecord b = record_of({row("a", kFast), row("a", kSlow)});
  b.rows[0].control = true;
  auto all = compared({record_of({row("a", kSlow)}), b});
  CHECK(the_difference(*all).place.row == 1);
  CHECK(all->unmatched.empty());
}

TEST_CASE("compare: errors, drift, open loops and probes say why there is no verdict") {
  auto reason = [](auto change) {
    RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
    change(a, b);
    auto all = compared({a, b});
    const Difference difference = the_difference(*all);
    CHECK(difference.verdict == Verdict::kCannotTell);
    CHECK_FALSE(difference.ratio.median);
    CHECK(all->tests == 0);
    CHECK(all->means.empty());
    return difference.reason;
  };
  CHECK(reason([](RunRecord&, RunRecord& b) { b.rows[0].error = "EIO"; }) == "error in B");
  CHECK(reason([](RunRecord& a, RunRecord&) { a.rows[0].drifted = true; }) == "drifted in A");
  CHECK(reason([](RunRecord& a, RunRecord& b) { a.rows[0].cell.pace = b.rows[0].cell.pace = "open"; }) ==
        "an open loop's throughput is what was asked for");
  CHECK(reason([](RunRecord&, RunRecord& b) { std::swap(b.rows[0].untraced, b.rows[0].traced); }) ==
        "one was measured with probes only, the other without");
  CHECK(reason([](RunRecord&, RunRecord& b) { b.host.virtualisation = "qemu"; }) ==
        "emulated: only counts count");
}

TEST_CASE("compare: the geometric mean is over the cells of a record, and of each value asked for") {
  auto rows = [](Count at_1, Count at_4) {
    return record_of({row("a", std::vector<Count>(6, at_1)), row("a", std::vector<Count>(6, at_4), 4)});
  };
  auto all = compared({rows(100, 100), rows(200, 800)});
  REQUIRE(all->means.size() == 1);
  CHECK(all->means[0].ratio == Approx(4));
  CHECK(all->means[0].cells == 2);
  all = compared({rows(100, 100), rows(200, 800)}, Dimension::kThreads);
  REQUIRE(all->means.size() == 3);
  CHECK(all->means[0].value == "T01");
  CHECK(all->means[0].ratio == Approx(2));
  CHECK(all->means[1].ratio == Approx(8));
  CHECK(all->means[2].value.empty());
}

TEST_CASE("compare: within one record, by strategy, threads and case") {
  Row warm = row("a", kFast);
  warm.case_name = "warm";
  warm.cell.memory_limit_bytes = std::nullopt;
  RunRecord record =
      record_of({row("a", kSlow), row("b", kFast), row("a", kFast, 4), row("b", kFast, 4), warm});
  record.rows[0].cell.memory_limit_bytes = record.rows[1].cell.memory_limit_bytes = 1 << 20;
  record.rows[2].cell.memory_limit_bytes = record.rows[3].cell.memory_limit_bytes = 1 << 20;

  auto by_strategy = compared({record}, Dimension::kStrategy);
  auto found = differences(*by_strategy);
  REQUIRE(found.size() == 2);
  CHECK(by_strategy->tables[0].cells[0].base.row == 0);
  CHECK(found[0].place.row == 1);
  CHECK(found[0].verdict == Verdict::kFaster);
  CHECK(found[1].place.row == 3);
  CHECK(found[1].verdict == Verdict::kNoneProven);
  REQUIRE(by_strategy->unmatched.size() == 1);
  CHECK(by_strategy->unmatched[0].row == 4);

  auto by_threads = compared({record}, Dimension::kThreads);
  found = differences(*by_threads);
  REQUIRE(found.size() == 2);
  CHECK(by_threads->tables[0].cells[0].base.row == 0);
  CHECK(found[0].place.row == 2);

  auto by_case = compared({record}, Dimension::kCase);
  REQUIRE(differences(*by_case).size() == 1);
  CHECK(the_difference(*by_case).place.row == 4);
  CHECK_THAT(by_case->tables[0].title, Catch::Matchers::StartsWith("warm against cold, random"));
  CHECK_FALSE(warns(*by_case, "not interleaved"));
}

TEST_CASE("compare: records of one strategy each are set side by side only when asked to") {
  std::vector<RunRecord> records{record_of({row("a", kSlow)}), record_of({row("b", kFast)})};
  CHECK_FALSE(compared(records));
  CHECK_FALSE(compared(records, Dimension::kThreads));
  auto all = compared(records, Dimension::kStrategy);
  REQUIRE(all);
  CHECK(the_difference(*all).verdict == Verdict::kFaster);
  CHECK(all->tables[0].value == "b against a");
  CHECK(all->unmatched.empty());
  records[1].rows.push_back(row("c", kFast));  // which of both?
  CHECK_FALSE(compared(records, Dimension::kStrategy));
}

TEST_CASE("compare: one record needs --by, and attach records have nothing to compare") {
  auto alone = compared({record_of({row("a", kSlow)})});
  REQUIRE_FALSE(alone);
  CHECK(alone.error().kind == ErrorKind::kUsage);
  CHECK(compared({record_of({row("a", kSlow)})}, Dimension::kStrategy).error().message ==
        "a.json: no two rows differ in their strategy alone: there is nothing to compare");
  RunRecord attach = record_of({});
  attach.command = "attach";
  auto refused = compared({record_of({row("a", kSlow)}), attach});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kUsage);
  CHECK_THAT(refused.error().message, Contains("b.json: a record of attach"));
}

TEST_CASE("compare: slower by more means the whole interval") {
  Difference difference{.ratio = {0.9, 0.85, 0.94, 6}, .verdict = Verdict::kSlower};
  CHECK(slower_by_more_than(difference, 0.05));
  CHECK_FALSE(slower_by_more_than(difference, 0.07));
  difference.verdict = Verdict::kNoneProven;
  CHECK_FALSE(slower_by_more_than(difference, 0.05));
  difference = {.ratio = {1.2, 1.1, 1.3, 6}, .verdict = Verdict::kFaster};
  CHECK_FALSE(slower_by_more_than(difference, 0));
}
