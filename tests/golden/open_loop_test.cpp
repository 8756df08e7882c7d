// An open loop gives no ranking, whatever its throughput, and its tables say what they count from.

#include <catch2/catch.hpp>

#include "analysis/comparison.h"
#include "analysis/reports/report.h"
#include "analysis/summary.h"

using namespace iotrace;
using Catch::Matchers::Contains;

namespace {

// 10 repetitions, each of 100 ops served in a second, and of so many more that were due.
Row open_row(const std::string& strategy, std::uint64_t service_ns, Count unserved, bool control = false) {
  Row row{
      .strategy = strategy, .case_name = "cold", .pattern = "random", .threads = 2, .read_size_bytes = 4096};
  row.reads_per_op = 1;
  row.control = control;
  row.cell = {.pace = "open", .rate = 100, .arrivals = "poisson"};
  row.untraced.emplace();
  row.untraced->reps.assign(10,
                            {.ops = strategy == "pread" ? 100u : 50u, .seconds = 1, .unserved = unserved});
  row.service_ns.emplace(kOpSubBits).add(service_ns, 100);
  row.response_ns.emplace(kOpSubBits).add(10 * service_ns, 100);
  return row;
}

RunRecord record() {
  RunRecord all;
  all.rows = {open_row("pread", 64, 0), open_row("mmap", 96, 100), open_row("pread", 64, 0, true)};
  summarise(all);
  return all;
}

std::string rendered(std::string_view format) {
  for (const ReportFormat& report : report_formats())
    if (report.name == format) return report.render(record(), {});
  FAIL("no format " << format);
  return {};
}

}

TEST_CASE("rows of an open loop are not ranked and have no noise floor") {
  const RunRecord all = record();
  const auto groups = row_groups(all);
  REQUIRE(groups.size() == 1);
  for (const Ranking& ranking : groups[0].rankings) CHECK(ranking.rows.empty());
  CHECK(groups[0].comparisons == 0);
  CHECK(compare(all, 0, 1).verdict == Verdict::kCannotTell);
  for (const Row& row : all.rows) CHECK_FALSE(row.noise_floor_ratio);
}

TEST_CASE("response times are headed by what they count from, and overload is said") {
  for (const char* format : {"terminal", "markdown"}) {
    const std::string text = rendered(format);
    INFO(text);
    CHECK_THAT(text, Contains("latency from the intended start"));
    CHECK_THAT(text, Contains("640 ns") && Contains("960 ns") && Contains("64 ns") && Contains("96 ns"));
    // mmap: 50 of 150 a repetition. More than the 20 that 2 threads of 10 repetitions may leave by chance.
    CHECK_THAT(text, Contains("mmap T02: 66.7 % of arrivals"));
    CHECK_THAT(text, !Contains("is fastest (") && !Contains("noise floor"));
    CHECK_THAT(text, !Contains("pread T02: 0"));
  }
}
