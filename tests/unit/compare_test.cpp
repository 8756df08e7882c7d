#include "analysis/compare/compared.h"

#include <algorithm>
#include <initializer_list>

#include <catch2/catch.hpp>

#include "analysis/compare/pool.h"
#include "analysis/summary.h"

using namespace iotrace;
using Catch::Matchers::Contains;

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
  row.pattern = "random";
  row.threads = threads;
  row.read_size_bytes = 4096;
  row.reads_per_op = 1;
  row.untraced = measured(ops);
  return row;
}

const std::vector<Count> kSlow{100, 101, 102, 103, 104, 105};
const std::vector<Count> kSlowAgain{100, 101, 102, 103, 104, 106};
const std::vector<Count> kFast{200, 201, 202, 203, 204, 205};

RunRecord record_of(std::vector<Row> rows) {
  RunRecord record;
  record.started = "2026-11-30T15:00:00Z";
  record.file.size_bytes = 1 << 30;
  record.rows = std::move(rows);
  summarise(record);
  return record;
}

Result<Comparison> compared(std::vector<RunRecord> records, std::optional<Dimension> by = std::nullopt) {
  std::vector<NamedRecord> named;
  for (RunRecord& record : records)
    named.push_back({std::string(1, static_cast<char>('a' + named.size())) + ".json", std::move(record), {}});
  return compare_records(std::move(named), by);
}

// All differences, in the order of the tables.
std::vector<Difference> differences(const Comparison& all) {
  std::vector<Difference> found;
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      found.insert(found.end(), cell.against.begin(), cell.against.end());
  return found;
}

Difference the_difference(const Comparison& all) {
  const auto found = differences(all);
  REQUIRE(found.size() == 1);
  return found.front();
}

bool warns(const Comparison& all, std::string_view text) {
  return std::ranges::any_of(
      all.warnings, [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

std::string value_of(const Comparison& all, std::string_view what, std::size_t record) {
  for (const RecordDifference& difference : all.differences)
    if (difference.what == what) return difference.values.at(record);
  return "the same";
}

}

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

TEST_CASE("compare: hosts and files differ where they do, and nowhere else") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
  a.host.kernel = b.host.kernel = "6.18.44";
  a.host.per_vma_locks = true;
  CHECK(compared({a, a})->differences.empty());
  b.host.kernel = "6.1.0";
  b.host.per_vma_locks = false;
  b.file.fs = "xfs";
  b.file.read_ahead_bytes = 128 << 10;
  b.host.memory_bytes = 8ull << 30;
  auto all = compared({a, b, a});
  CHECK(all->differences.size() == 5);
  CHECK(value_of(*all, "kernel", 0) == "6.18.44");
  CHECK(value_of(*all, "kernel", 1) == "6.1.0");
  CHECK(value_of(*all, "kernel", 2) == "6.18.44");
  CHECK(value_of(*all, "per-VMA locks", 0) == "yes");
  CHECK(value_of(*all, "per-VMA locks", 1) == "no");
  CHECK(value_of(*all, "file system", 1) == "xfs");
  CHECK(value_of(*all, "effective read-ahead", 0) == "unknown");
  CHECK(value_of(*all, "effective read-ahead", 1) == "128 KiB");
  CHECK(value_of(*all, "memory", 1) == "8.0 GiB");
}

TEST_CASE("compare: each thing that makes it unfair is named, and none that is not there") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
  for (RunRecord* record : {&a, &b}) record->rows[0].noise_floor_ratio = 0.01;
  a.rows[0].probes = b.rows[0].probes = {{.name = "faults", .variant = "tp_btf"}};
  b.started = "2026-11-30T16:00:00Z";
  auto fair = compared({a, b});
  REQUIRE(fair->warnings.size() == 1);
  CHECK_THAT(fair->warnings[0],
             Contains("not interleaved: A (2026-11-30T15:00:00Z) and B (2026-11-30T16:00:00Z)"));
  CHECK(compared({a, a})->warnings == std::vector<std::string>{"A and B are one and the same run."});

  auto warning = [&](auto change, std::string_view text) {
    RunRecord other = b;
    change(other);
    auto all = compared({a, other});
    INFO(text);
    CHECK(all->warnings.size() == 2);
    CHECK(warns(*all, text));
  };
  warning([](RunRecord& r) { r.partial = true; }, "B is partial");
  warning([](RunRecord& r) { r.seed = 7; }, "other seed: 0 in A, 7 in B");
  warning([](RunRecord& r) { r.file.size_bytes = 1 << 20; }, "other file size: 1 GiB in A, 1 MiB in B");
  warning([](RunRecord& r) { r.options.duration_s = 3; },
          "other repetitions: at most 0 ns in A, 3.00 s in B");
  warning([](RunRecord& r) { r.options.ramhog = true; }, "by pinning the rest in B");
  warning([](RunRecord& r) { r.host.virtualisation = "qemu"; }, "B ran on an emulated processor");
  warning([](RunRecord& r) { r.rows[0].probes[0].lost = 3; }, "B lost 3 events of faults");
  warning([](RunRecord& r) { r.rows[0].probes[0].variant = "perf"; }, "faults (tp_btf in A, perf in B)");
  warning([](RunRecord& r) { r.rows[0].probes[0].name = "reclaim"; },
          "faults (tp_btf in A, absent in B), reclaim (absent in A, tp_btf in B)");
  warning([](RunRecord& r) { r.rows[0].probes.clear(); }, "B ran without probes");
  warning([](RunRecord& r) { r.findings = {{.id = "host-cache"}}; }, "B found a cache below its machine");
}

TEST_CASE("compare: unknown noise, other memory and another device are told") {
  RunRecord a = record_of({row("a", kSlow)}), b = record_of({row("a", kFast)});
  CHECK(warns(*compared({a, b}), "noise floor of 1 of 1 cells is unknown"));
  a.rows[0].cell.memory_limit_bytes = 1 << 29;
  b.rows[0].cell.memory_limit_bytes = 1 << 28;
  CHECK(warns(*compared({a, b}), "in case cold the reader had 50 % of the file in A, 25 % in B"));
  b.file.size_bytes = 1 << 29;
  CHECK_FALSE(warns(*compared({a, b}), "other memory"));
  a.ceiling = {{16384, 64, 1000, 200e6}};
  b.ceiling = {{16384, 64, 1000, 100e6}};
  CHECK(warns(*compared({a, b}), "it delivered 200 MB/s at best in A, 100 in B"));
  b.ceiling = {{16384, 64, 1000, 195e6}};
  CHECK_FALSE(warns(*compared({a, b}), "at best"));
}

TEST_CASE("pool: sessions of one configuration add their repetitions, and how far they are apart") {
  RunRecord first = record_of({row("a", kSlow), row("b", kSlow)}),
            second = record_of({row("b", {110, 111, 112, 113, 114, 115}), row("a", kSlowAgain)});
  first.rows[0].device_bytes = 7;
  second.rows[1].device_bytes = 9;
  second.started = "2026-11-30T17:00:00Z";
  auto pooled = pool({{"a1", first, {}}, {"a2", second, {}}});
  REQUIRE(pooled);
  CHECK(pooled->name == "a1+a2");
  CHECK(pooled->more_sessions == std::vector<std::string>{"2026-11-30T17:00:00Z"});
  const Row &a = pooled->record.rows[0], &b = pooled->record.rows[1];
  CHECK(a.untraced->ops_per_ms.n == 12);
  CHECK(*a.untraced->ops_per_ms.median == Approx(0.1025));
  CHECK(a.device_bytes == 7);
  CHECK(*a.noise_floor_ratio < 0.01);
  CHECK(*b.noise_floor_ratio == Approx(112.5 / 102.5 - 1).epsilon(0.02));
}

TEST_CASE("pool: a row that one session lacks, or has an error in, keeps what the others have") {
  RunRecord first = record_of({row("a", kSlow), row("b", kSlow)}), second = record_of({row("a", kSlow)});
  second.rows[0].error = "EIO";
  auto pooled = pool({{"a1", first, {}}, {"a2", second, {}}});
  REQUIRE(pooled);
  for (const Row& row : pooled->record.rows) CHECK(row.untraced->ops_per_ms.n == 6);
}

TEST_CASE("pool: another kernel, probes alone and attach are refused") {
  RunRecord first = record_of({row("a", kSlow)}), other = first;
  other.host.kernel = "6.1";
  auto refused = pool({{"a1", first, {}}, {"a2", other, {}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::kUsage);
  CHECK_THAT(refused.error().message, Contains("a1 and the others are not of one configuration: kernel is"));
  other = first;
  std::swap(other.rows[0].untraced, other.rows[0].traced);
  CHECK_THAT(pool({{"a1", first, {}}, {"a2", other, {}}}).error().message, Contains("a2: --group pools"));
  other = first;
  other.command = "attach";
  CHECK_THAT(pool({{"a1", first, {}}, {"a2", other, {}}}).error().message,
             Contains("a2: a record of attach"));
}

TEST_CASE("compare: sessions in turns are interleaved, one after the other they are not") {
  auto session = [](const std::string& hour, const std::vector<Count>& ops) {
    RunRecord record = record_of({row("a", ops)});
    record.started = "2026-11-30T" + hour + ":00:00Z";
    return NamedRecord{hour, record, {}};
  };
  auto warned = [&](const char* a1, const char* a2, const char* b1, const char* b2) {
    auto a = pool({session(a1, kSlow), session(a2, kSlow)}),
         b = pool({session(b1, kFast), session(b2, kFast)});
    auto all = compare_records({*a, *b}, std::nullopt);
    CHECK(the_difference(*all).verdict == Verdict::kFaster);
    return warns(*all, "not interleaved");
  };
  CHECK_FALSE(warned("10", "12", "11", "13"));
  CHECK_FALSE(warned("10", "13", "11", "12"));
  CHECK(warned("10", "11", "12", "13"));
  CHECK(warned("12", "13", "10", "11"));
}
