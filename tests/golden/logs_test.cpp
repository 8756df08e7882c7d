// What --stacks keeps, as flame graph tools read it. IOTRACE_UPDATE_GOLDEN=1 writes the expected texts anew:
// read the diff.

#include <regex>
#include <sstream>

#include <catch2/catch.hpp>

#include "analysis/reports/report.h"
#include "tests/golden/attach_example.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

const ReportFormat& format_named(std::string_view name) {
  for (const ReportFormat& format : report_formats())
    if (format.name == name) return format;
  throw std::runtime_error("no such format");
}

std::vector<FaultStack> some_stacks() {
  return {{"search-1",
           {"main", "Index::search(Query const&)", "read;doc"},
           {"filemap_fault", "schedule"},
           7,
           7'000'000},
          {"merge", {"[unknown]", "[libjvm.so+0x1f]"}, {}, 2, 1'500'000},
          {"odd\nname", {"main"}, {"io_schedule"}, 1, 11}};
}

}

TEST_CASE("folded: a line a stack, frames of the kernel marked, what was dropped beside them") {
  RunRecord record = watched({quiet_file("/index/_0.fdt", 1 << 20)});
  record.totals->stacks = some_stacks();
  record.totals->stacks_dropped = {3, 2'000};
  const std::string text = format_named("folded").render(record, {});
  CHECK(text == expected_text("stacks_attach.folded", text));

  // flamegraph.pl's own rule for a line, and the sum of all.
  const std::regex line_rule("^(.*)\\s+?(\\d+(?:\\.\\d*)?)$");
  std::istringstream lines(text);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    std::smatch parts;
    REQUIRE(std::regex_match(line, parts, line_rule));
    sum += std::stoull(parts[2]);
  }
  CHECK(sum == 7'000'000 + 1'500'000 + 11 + 2'000);
}

TEST_CASE("folded: of a run, the row is the root") {
  RunRecord record = example_record();
  record.rows.at(0).stacks = some_stacks();
  record.rows.at(0).stacks_dropped = StackDrops{};
  const std::string text = format_named("folded").render(record, {});
  CHECK(text == expected_text("stacks_run.folded", text));
}

TEST_CASE("folded: a record without stacks says what to do") {
  auto possible = can_render(format_named("folded"), example_record());
  REQUIRE_FALSE(possible);
  CHECK(possible.error().message.find("--stacks") != std::string::npos);
  RunRecord kept = watched({});
  kept.totals->stacks.emplace();
  CHECK(can_render(format_named("folded"), kept));
  CHECK(format_named("folded").render(kept, {}).empty());
}
