// thrashing: the cliff of a memory sweep, and rows under a limit beside the warm row of the same reads.

#include <catch2/catch.hpp>

#include "analysis/reports/report.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

// A step of a sweep over the file of 1 GiB: so many ops per second, so many pages read again per op.
Row step(double of_file, Count ops, Count refaults_per_op) {
  Row row = cold_row("mmap", 1, std::vector<Count>(6, ops));
  row.case_name = "pressure";
  row.cell.memory_of_file_ratio = of_file;
  row.cell.memory_limit_bytes = static_cast<std::uint64_t>(of_file * (1u << 30));
  row.device_bytes = refaults_per_op * ops * 4096;
  row.page_cache = PageCache{.added_pages = refaults_per_op * ops};
  return row;
}

Row without_sweep(Row row) {
  row.cell.memory_of_file_ratio.reset();
  return row;
}

Row warm_row(Count ops) {
  Row row = without_sweep(step(1, ops, 0));
  row.case_name = "warm";
  row.cell.memory_limit_bytes.reset();
  return row;
}

std::string only_sentence(const RunRecord& record) {
  auto findings = fired(record, "thrashing");
  REQUIRE(findings.size() == 1);
  return findings[0].severity + ": " + findings[0].text;
}

bool silent(const RunRecord& record) {
  return fired(record, "thrashing").empty();
}

}

TEST_CASE("thrashing names the step of a sweep where throughput falls and refaults rise") {
  const RunRecord record =
      record_of({step(1.5, 2460, 0), step(1.0, 2048, 0), step(0.75, 256, 24), step(0.5, 200, 40)});
  CHECK(only_sentence(record) ==
        "warn: the working set of mmap no longer fits below 1 GiB (100 % of the file): at 75 % ops/ms have "
        "fallen "
        "8.00 times, and pages read again have risen from 0 to 24.0 per op (pressure random T01).");
  const Finding finding = fired(record, "thrashing")[0];
  CHECK(finding.rows == std::vector<std::uint32_t>{1, 2});
  CHECK(finding.numbers == std::map<std::string, double>{{"above_ratio", 1.0},
                                                         {"below_ratio", 0.75},
                                                         {"fall_ratio", 8},
                                                         {"refaults_per_op_above", 0},
                                                         {"refaults_per_op_below", 24}});
}

TEST_CASE("each strategy of a sweep has a cliff of its own") {
  Row other = step(1.0, 2400, 0), below = step(0.75, 600, 24);
  other.strategy = below.strategy = "pread";
  const RunRecord record = record_of({step(1.0, 2400, 0), other, step(0.75, 200, 24), below});
  const auto findings = fired(record, "thrashing");
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].rows == std::vector<std::uint32_t>{0, 2});
  CHECK(findings[1].rows == std::vector<std::uint32_t>{1, 3});
}

TEST_CASE("thrashing is silent on a slope, without refaults, and where they were not counted") {
  CHECK_FALSE(silent(record_of({step(1.0, 2400, 0), step(0.75, 1200, 24)})));
  CHECK(silent(record_of({step(1.0, 2400, 0), step(0.75, 1201, 24)})));  // not quite half as fast
  // Slower, but not for want of memory: nothing was read again, or no more of it than before.
  CHECK(silent(record_of({step(1.0, 2400, 0), step(0.75, 200, 0)})));
  CHECK(silent(record_of({step(1.0, 2400, 20), step(0.75, 200, 24)})));
  Row not_counted = step(0.75, 200, 24);
  not_counted.page_cache.reset();
  CHECK(silent(record_of({step(1.0, 2400, 0), not_counted})));
  Row failed = step(0.75, 200, 24);
  failed.error = "could not reach 'pressure'";
  CHECK(silent(record_of({step(1.0, 2400, 0), failed})));
}

TEST_CASE("outside of a sweep thrashing sets a row beside the warm one") {
  const Row limited = without_sweep(step(0.5, 120, 40));
  CHECK(only_sentence(record_of({warm_row(2400), limited})) ==
        "warn: the working set does not fit into memory: 1 row read pages again that had been cached, 40.0 "
        "per op, and "
        "came out 20.0 times slower than warm (pressure random T01).");
  Row half = without_sweep(step(0.25, 60, 64));
  half.case_name = "half-cold";
  CHECK(only_sentence(record_of({warm_row(2400), limited, half})) ==
        "warn: the working set does not fit into memory: 2 rows read pages again that had been cached, 40.0 "
        "to 64.0 per "
        "op, and came out 20.0 to 40.0 times slower than warm (pressure random T01, half-cold random T01).");
  CHECK(silent(record_of({limited})));                 // nothing to set it beside
  CHECK(silent(record_of({warm_row(200), limited})));  // hardly slower
  Row four = warm_row(2400);
  four.threads = 4;
  CHECK(silent(record_of({four, limited})));
  Row cold = limited;  // starts with nothing cached: its pages come for the first time
  cold.case_name = "cold";
  CHECK(silent(record_of({warm_row(2400), cold})));
}

TEST_CASE("a sweep stands in one table, a column per step") {
  Row failed = step(0.5, 120, 40);
  failed.error = "could not reach 'pressure'";
  RunRecord record = record_of({step(1.5, 2048, 0), step(0.75, 256, 24), failed});
  const std::string report = report_formats().front().render(record, {});
  CHECK_THAT(report,
             Catch::Matchers::Contains(
                 "\nmemory sweep: ops/ms, and pages read again per op, by the memory limit as a share of the "
                 "file\n"
                 "strategy            150 %   75 %   50 %\n"
                 "mmap T01    ops/ms   2.05  0.256  error\n"
                 "          pages/op      0   24.0      -\n"));
  CHECK(report_formats().front().render(record_of({warm_row(2400)}), {}).find("memory sweep") ==
        std::string::npos);
}
