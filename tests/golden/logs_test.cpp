// What --stacks and --window keep, as flame graph tools and Perfetto read it. IOTRACE_UPDATE_GOLDEN=1 writes
// the expected texts anew: read the diff.

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

// A read call that faults inside, a hint that is refused, two device reads at once of one thread, one of
// nobody known, a fault of another thread.
std::vector<LoggedEvent> some_events() {
  const std::string file = "/index/_0 \"x\".fdt";
  return {
      {"read", "pread64", 4711, 4712, "search-1", file, 8192, 4096, std::nullopt, 1'000, 90'500},
      {"fault", "waited", 4711, 4712, "search-1", file, 8192, 4096, std::nullopt, 2'001, 80'000},
      {"device", "read", 4711, 4712, "search-1", file, 8192, 131072, std::nullopt, 2'500, 70'000},
      {"device", "read", 4711, 4712, "search-1", file, 139264, 131072, std::nullopt, 2'600, 75'000},
      {"device", "read", 0, 0, "", file, std::nullopt, 4096, std::nullopt, 3'000, 60'000},
      {"fault", "read", 4711, 4713, "merge\n2", std::nullopt, std::nullopt, 4096, std::nullopt, 3'500, 999},
      {"device", "read", 4711, 4712, "search-1", file, 270336, 4096, std::nullopt, 72'500, 10},
      {"hint", "madvise WILLNEED", 4711, 4712, "search-1", file, 8193, 16384, "EINVAL", 200'000, 300}};
}

}

TEST_CASE("trace: a track per thread, device reads beside it") {
  RunRecord record = watched({quiet_file("/index/_0.fdt", 1 << 20)});
  record.totals->events_window_s = 2;
  record.totals->events = some_events();
  record.totals->events_dropped = 5;
  const std::string text = format_named("trace").render(record, {});
  CHECK(text == expected_text("trace_attach.json", text));
}

TEST_CASE("trace: of a run, a process per row") {
  RunRecord record = record_of({cold_row("mmap", 1, {500, 505}), cold_row("mmap-random", 4, {500, 505}),
                                cold_row("pread", 4, {500, 505})});
  for (std::size_t row : {0, 2}) {
    record.rows[row].events_window_s = 0.5;
    record.rows[row].events = some_events();
    record.rows[row].events_dropped = 0;
  }
  const std::string text = format_named("trace").render(record, {});
  CHECK(text == expected_text("trace_run.json", text));
}

TEST_CASE("trace: a record without events says what to do") {
  auto possible = can_render(format_named("trace"), example_record());
  REQUIRE_FALSE(possible);
  CHECK(possible.error().message.find("--window") != std::string::npos);
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
  RunRecord record = record_of({cold_row("mmap-random", 4, {500, 505})});
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
