// Reports of attach records, byte for byte. IOTRACE_UPDATE_GOLDEN=1 writes the expected texts anew: read the
// diff.

#include <algorithm>

#include <catch2/catch.hpp>

#include "analysis/record_json.h"
#include "analysis/reports/live.h"
#include "analysis/reports/report.h"
#include "analysis/text.h"
#include "tests/golden/attach_example.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

const ReportFormat& format_named(std::string_view name) {
  for (const ReportFormat& format : report_formats())
    if (format.name == name) return format;
  throw std::runtime_error("no such format");
}

std::string rendered(std::string_view name, RunRecord record, const ReportOptions& options = {}) {
  record.findings = judge(record);
  return format_named(name).render(record, options);
}

void check_width(const std::string& text, std::size_t width) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    INFO(text.substr(start, end - start));
    CHECK(display_width(text.substr(start, end - start)) <= width);
    CHECK((end == start || text[end - 1] != ' '));
    start = end + 1;
  }
}

bool says(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

// 5000 segments; the first ten wait 10 s in all, the others 9.98 s.
RunRecord many_files() {
  std::vector<AttachedFile> files;
  for (int i = 0; i < 5'000; ++i) {
    files.push_back(quiet_file("/index/_" + std::to_string(i) + (i % 2 ? ".dvd" : ".fdt"), 1 << 20));
    files.back().faults = file_faults(0, 0, i < 10 ? 1'000 : 2);
  }
  RunRecord record = watched(std::move(files));
  record.target->files_left_out = 7;
  for (std::uint32_t i = 0; i < 2'000; ++i)
    record.threads.push_back(
        thread_of(5'000 + i, std::string("pool") + static_cast<char>('a' + i % 26) + "-" + std::to_string(i),
                  10, 0.01, 0));
  return record;
}

}

TEST_CASE("attach, terminal: an index that does not fit into its memory") {
  const std::string text = rendered("terminal", lucene_record());
  check_width(text, 110);
  CHECK(text == expected_text("attach_lucene.txt", text));
}

TEST_CASE("attach, markdown: the same for a pull request") {
  const std::string text = rendered("markdown", lucene_record());
  CHECK(text == expected_text("attach_lucene.md", text));
}

TEST_CASE("attach, json: findings with their files") {
  const std::string text = rendered("json", lucene_record());
  CHECK(says(text, R"("files": [)"));
  CHECK(says(text, R"("path": "/var/lib/search/nodes/0/indices/books/0/index/_0.fdt")"));
  CHECK_FALSE(says(text, R"("rows")"));
}

TEST_CASE("attach: an idle process gives a short report") {
  const std::string text = rendered("terminal", idle_record());
  check_width(text, 110);
  CHECK(text == expected_text("attach_idle.txt", text));
  CHECK(says(rendered("markdown", idle_record()), "sleep (99): nothing waited in 10.0 s"));
}

TEST_CASE("attach: nothing is called quiet that no probe looked at") {
  RunRecord record = idle_record();
  record.totals->faults = std::nullopt;
  record.totals->unavailable = {{"faults", "attach perf: EPERM"}};
  record.totals->probes[0] = {.name = "faults", .reason = "attach perf: EPERM"};
  const std::string text = rendered("terminal", record);
  CHECK(says(text, "; not seen: page faults."));
  CHECK(says(text, "not available: faults: attach perf: EPERM"));
  CHECK(says(text, "[probe-unavailable]"));
}

TEST_CASE("attach: names from outside take no effect") {
  AttachedFile file = random_file("/data/\033[2Ja\nb\xff|c.fdt");
  RunRecord record = watched({file});
  record.target->processes[0].name = "ja\nva";
  record.threads = {thread_of(4721, "se\narch\xfe-1", 10, 1, 0)};
  const std::string text = rendered("terminal", record);
  check_width(text, 110);
  CHECK(says(text, "/data/\\x1b[2Ja\\x0ab\\xff|c.fdt"));
  CHECK(says(text, "se\\x0aarch\\xfe-1"));
  CHECK(says(text, "ja\\x0ava (4711)"));
  const std::string markdown = rendered("markdown", record);
  CHECK(says(markdown, "a\\\\x0ab\\\\xff\\|c.fdt"));
  CHECK(markdown.find('\033') == std::string::npos);
}

TEST_CASE("attach: lists say exactly what they leave out") {
  const std::string text = rendered("terminal", many_files());
  check_width(text, 110);
  CHECK(says(text, ".fdt, 2500 files"));
  CHECK(says(text, "and 4990 more files, 49.9 % of the waiting"));
  CHECK(says(text, "7 files beyond the bound of the probes' table"));
  // 2000 threads in 26 pools: 24 of 77, two of 76, and ten pools are shown.
  CHECK(says(text, "poola-# x77"));
  CHECK(says(text, "and 1230 more threads, 61.5 % of the waiting"));
  CHECK(std::ranges::count(text, '\n') < 80);
  CHECK(says(rendered("terminal", many_files(), {.top = 3}), "and 4997 more files, 85.0 % of the waiting"));
}

TEST_CASE("attach: a number that is not known of one file is not known of their sum") {
  RunRecord record = watched({random_file("/index/_0.fdt"), random_file("/index/_1.fdt")});
  CHECK(says(rendered("terminal", record), ".fdt, 2 files    1.37 GiB      25 %  NORMAL  10000"));
  record.files[1].resident_bytes = std::nullopt;
  CHECK(says(rendered("terminal", record), ".fdt, 2 files    1.37 GiB         -  NORMAL  10000"));
}

TEST_CASE("attach: losses, an end before its time and processes that ended are told") {
  RunRecord record = lucene_record();
  record.partial = true;
  record.target->processes = {{4711, "java", "exited"}, {4712, "java", "exited"}, {4713, "java", {}}};
  record.totals->probes[2].lost = 7;
  const std::string text = rendered("terminal", record);
  CHECK(says(text, "ended before its time"));
  CHECK(says(text,
             "java (4711), java (4712), java (4713) for 10.0 s, asked for by -p 4711, exited: 4711, 4712"));
  CHECK(says(text, "lost: 7 events of probe page_cache, whose numbers are lower bounds"));
  CHECK(says(text, "[events-lost]"));
}

TEST_CASE("attach: jmh has no rows to show, and says which formats have") {
  const Status possible = can_render(format_named("jmh"), lucene_record());
  REQUIRE_FALSE(possible);
  CHECK(possible.error().kind == ErrorKind::kUsage);
  CHECK(says(possible.error().message,
             "format jmh shows the rows of a run, and attach has none; use --format terminal"));
  CHECK(can_render(format_named("jmh"), example_record()));
  CHECK(can_render(format_named("terminal"), lucene_record()));
}

TEST_CASE("attach: a record read back from its file gives the same report") {
  RunRecord record = lucene_record();
  record.findings = judge(record);
  auto again = from_json_text(to_json_text(record));
  REQUIRE(again);
  CHECK(format_named("terminal").render(*again, {}) == rendered("terminal", lucene_record()));
}

TEST_CASE("live: a line an interval, of rates") {
  CHECK(live_line({.begin_s = 3,
                   .seconds = 2,
                   .faults = 2'000,
                   .waiting_faults = 100,
                   .added_pages = 9'000,
                   .evicted_pages = 8'000,
                   .refault_pages = 0,
                   .hints = 46,
                   .hints_rejected = 2,
                   .reads = 14,
                   .device_read_bytes = 40'000'000,
                   .fault_wait_s = 3.0,
                   .read_wait_s = 0.5,
                   .lock_wait_s = 0.0}) ==
        "5.0 s: faults 1000/s, 50.0/s wait; pages +4500/s -4000/s, 0/s come back; hints 23.0/s, 1.00/s "
        "refused; "
        "reads 7.00/s; device 20.0 MB/s; threads blocked: faults 1.50, reads 0.25, locks 0.00");
  CHECK(live_line({.begin_s = 0, .seconds = 1}) == "1.0 s: faults -/s, -/s wait; pages +-/s --/s, -/s come "
                                                   "back; hints -/s, -/s refused; reads -/s; device - "
                                                   "MB/s; threads blocked: faults -, reads -, locks -");
}

TEST_CASE("live: a table no wider than the terminal, no higher than asked for") {
  RunRecord record = many_files();
  record.intervals = {{.begin_s = 0, .seconds = 1, .faults = 100, .waiting_faults = 7}};
  for (std::size_t width : {20, 40, 80, 200}) {
    const std::string text = live_table(record, 4, width);
    check_width(text, width);
    CHECK(std::ranges::count(text, '\n') <= 2 * 4 + 7);
    CHECK(says(text, "/index/_0.fdt"));
  }
  RunRecord lucene = lucene_record();
  lucene.intervals = {{.begin_s = 9,
                       .seconds = 1,
                       .faults = 1'440,
                       .waiting_faults = 503,
                       .added_pages = 24'700,
                       .evicted_pages = 23'000,
                       .refault_pages = 12'200,
                       .hints = 518,
                       .hints_rejected = 511,
                       .reads = 70,
                       .device_read_bytes = 100'000'000}};
  const std::string text = live_table(lucene, 5, 100);
  CHECK(text == expected_text("attach_live.txt", text));
}
