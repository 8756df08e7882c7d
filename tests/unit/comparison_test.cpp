#include "analysis/comparison.h"

#include <catch2/catch.hpp>

#include "analysis/summary.h"

using namespace iotrace;

namespace {

// One repetition per number, of one second each: 2000 ops are 2 ops/ms.
Measurement measured(const std::vector<Count>& ops) {
  Measurement measurement;
  for (Count n : ops) measurement.reps.push_back({n, 1.0});
  return measurement;
}

Row row(const std::string& strategy, const std::vector<Count>& ops, std::uint32_t threads = 1) {
  Row row;
  row.strategy = strategy;
  row.case_name = "cold";
  row.threads = threads;
  row.untraced = measured(ops);
  return row;
}

const std::vector<Count> kSlow{100, 101, 102, 103, 104, 105};
const std::vector<Count> kFast{200, 201, 202, 203, 204, 205};

RunRecord record_of(std::vector<Row> rows) {
  RunRecord record;
  record.rows = std::move(rows);
  return record;
}

RowGroup only_group(const RunRecord& record) {
  auto groups = row_groups(record);
  REQUIRE(groups.size() == 1);
  return groups[0];
}

}

TEST_CASE("six repetitions that do not overlap prove the faster row") {
  RunRecord record = record_of({row("a", kSlow), row("b", kFast)});
  RowGroup group = only_group(record);
  REQUIRE(group.rankings.size() == 1);
  const Ranking& ranking = group.rankings[0];
  CHECK(ranking.rows == std::vector<std::uint32_t>{1, 0});
  CHECK(ranking.proven());
  const PairVerdict& pair = ranking.leader_against.at(0);
  CHECK(pair.verdict == Verdict::kFaster);
  CHECK(pair.row == 1);
  CHECK(pair.other == 0);
  CHECK(*pair.p_adjusted == Approx(2.0 / 924));  // 2 / C(12, 6), one comparison
  CHECK(*pair.ratio.median == Approx(202.5 / 102.5).epsilon(0.01));
}

TEST_CASE("five repetitions tell nothing") {
  RunRecord record = record_of({row("a", {100, 101, 102, 103, 104}), row("b", {200, 201, 202, 203, 204})});
  RowGroup group = only_group(record);
  CHECK_FALSE(group.rankings[0].proven());
  CHECK(group.rankings[0].leader_against[0].verdict == Verdict::kCannotTell);
}

TEST_CASE("rows that overlap are not told apart") {
  RunRecord record = record_of({row("a", kSlow), row("b", {99, 101, 103, 104, 105, 106})});
  RowGroup group = only_group(record);
  CHECK_FALSE(group.rankings[0].proven());
  CHECK(group.rankings[0].leader_against[0].verdict == Verdict::kNoneProven);
}

TEST_CASE("the leader must beat every row to be proven best") {
  RunRecord record = record_of({row("a", kSlow), row("b", kFast), row("c", {199, 201, 202, 203, 204, 206})});
  RowGroup group = only_group(record);
  CHECK(group.comparisons == 2);
  CHECK_FALSE(group.rankings[0].proven());
}

TEST_CASE("no difference below the noise floor is called faster") {
  RunRecord record = record_of({row("a", kSlow), row("b", {110, 111, 112, 113, 114, 115})});
  for (Row& r : record.rows) r.noise_floor_ratio = 0.05;
  CHECK(only_group(record).rankings[0].proven());
  for (Row& r : record.rows) r.noise_floor_ratio = 0.15;
  RowGroup group = only_group(record);
  CHECK_FALSE(group.rankings[0].proven());
  CHECK(group.rankings[0].leader_against[0].verdict == Verdict::kNoneProven);
  CHECK(*group.rankings[0].noise_floor_ratio == 0.15);
}

TEST_CASE("rows with an error, drifted rows and the control take no part") {
  RunRecord record =
      record_of({row("a", kSlow), row("error", kFast), row("drifted", kFast), row("a", kFast)});
  record.rows[1].error = "EIO";
  record.rows[2].drifted = true;
  record.rows[3].control = true;
  RowGroup group = only_group(record);
  CHECK(group.rows.size() == 4);
  CHECK(group.rankings[0].rows == std::vector<std::uint32_t>{0});
  CHECK_FALSE(group.rankings[0].proven());  // best of one is no best
}

TEST_CASE("thread counts are ranked apart, ascending, and corrected together") {
  RunRecord record =
      record_of({row("a", kSlow, 4), row("b", kFast, 4), row("a", kFast, 1), row("b", kSlow, 1)});
  RowGroup group = only_group(record);
  REQUIRE(group.rankings.size() == 2);
  CHECK(group.rankings[0].threads == 1);
  CHECK(group.rankings[0].rows == std::vector<std::uint32_t>{2, 3});
  CHECK(group.rankings[1].rows == std::vector<std::uint32_t>{1, 0});
  CHECK(group.comparisons == 2);
  CHECK(*group.rankings[0].leader_against[0].p_adjusted == Approx(2 * 2.0 / 924));
}

TEST_CASE("rows measured differently are never compared") {
  RunRecord record = record_of({row("a", kSlow), row("b", kFast), row("b", kFast)});
  record.rows[1].case_name = "warm";
  record.rows[2].cell.compute_ns = 5000;
  CHECK(row_groups(record).size() == 3);
  CHECK_FALSE(measured_alike(record.rows[0], record.rows[2]));
}

TEST_CASE("a row with probes only is not ranked against rows without") {
  RunRecord record = record_of({row("a", kSlow), row("b", kFast)});
  std::swap(record.rows[1].untraced, record.rows[1].traced);
  CHECK(only_group(record).rankings[0].rows == std::vector<std::uint32_t>{0});
  std::swap(record.rows[0].untraced, record.rows[0].traced);
  CHECK(only_group(record).rankings[0].proven());
}

TEST_CASE("more comparisons than the repetitions can carry are cannot-tell") {
  std::vector<Row> rows;
  for (int i = 0; i < 25; ++i) rows.push_back(row("s" + std::to_string(i), {100, 101, 102, 103, 104, 105}));
  rows.push_back(row("best", kFast));
  RunRecord record = record_of(std::move(rows));
  RowGroup group = only_group(record);
  CHECK(group.comparisons == 25);
  CHECK(group.rankings[0].leader_against[0].verdict == Verdict::kCannotTell);
}

TEST_CASE("six repetitions carry 23 comparisons, seven 85") {
  CHECK(repetitions_needed(0) == 6);
  CHECK(repetitions_needed(23) == 6);
  CHECK(repetitions_needed(24) == 7);
  CHECK(repetitions_needed(85) == 7);
  CHECK(repetitions_needed(86) == 8);
}

TEST_CASE("a record without rows has no groups, a row without repetitions no throughput") {
  CHECK(row_groups({}).empty());
  CHECK(throughputs({}).empty());
  CHECK(throughput_measurement({}) == nullptr);
}

TEST_CASE("any two rows of a cell can be compared, corrected over all pairs of the table") {
  RunRecord record = record_of({row("a", kSlow), row("b", kFast), row("c", kSlow)});
  PairVerdict pair = compare(record, 1, 0);
  CHECK(pair.verdict == Verdict::kFaster);
  CHECK(*pair.p_adjusted == Approx(3 * 2 / 924.0));  // three pairs; 12 over 6 is 924
  CHECK(compare(record, 0, 1).verdict == Verdict::kSlower);
  CHECK(compare(record, 0, 2).verdict == Verdict::kNoneProven);

  // 28 pairs of 6 repetitions leave nothing that could be proven.
  for (const char* name : {"d", "e", "f", "g", "h"}) record.rows.push_back(row(name, kSlow));
  CHECK(compare(record, 1, 0).verdict == Verdict::kCannotTell);
}

TEST_CASE("rows that cannot be ranked, or of different cells, are not compared") {
  RunRecord record = record_of({row("a", kSlow), row("b", kFast), row("b", kFast, 4)});
  CHECK(compare(record, 2, 0).verdict == Verdict::kCannotTell);
  record.rows[1].drifted = true;
  CHECK(compare(record, 1, 0).verdict == Verdict::kCannotTell);
  CHECK_FALSE(row_beside(record, record.rows[0], "b"));
  record.rows[1].drifted = false;
  CHECK(row_beside(record, record.rows[0], "b") == 1);
  record.rows[1].noise_floor_ratio = 1.5;
  CHECK(compare(record, 1, 0).verdict == Verdict::kNoneProven);
}
