// The formats other than the terminal's, byte for byte. IOTRACE_UPDATE_GOLDEN=1 writes the expected texts
// anew: read the diff.

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "analysis/reports/markdown_text.h"
#include "analysis/reports/report.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string rendered(std::string_view name, RunRecord record) {
  summarise(record);
  record.findings = judge(record);
  for (const ReportFormat& format : report_formats())
    if (format.name == name) return format.render(record, {});
  FAIL("no such format");
  return {};
}

// Proven fastest, not told apart, the control, drifted, an error, text from outside.
RunRecord mixed_record() {
  RunRecord record = example_record();
  record.file.path = "/data/a|b_<i>\033[2J[x](y)";
  record.rows = {waste_row(1, {5, 5, 6, 5, 5, 5}),
                 mmap_random_row("mmap-random", 1, {120, 121, 122, 119, 118, 120}),
                 misaligned_row(1, {120, 121, 122, 119, 118, 121}),
                 hinted_row(1, {650, 655, 640, 645, 651, 652}),
                 cold_row("pread", 1, {500, 505, 510, 495, 498, 501}),
                 cold_row("pread", 1, {502, 506, 514, 497, 499, 503}),
                 mmap_random_row("mmap-random", 4, {400, 410, 405, 395, 402, 403}),
                 hinted_row(4, {1000, 1010, 1020, 1005, 990, 995}),
                 cold_row("pread", 4, {1001, 1011, 1021, 1004, 991, 996}),
                 cold_row("direct", 1, {1}),
                 cold_row("mmap", 4, {9000, 9100, 9200, 9050, 9070, 9080})};
  record.rows[5].control = true;
  record.rows[9].untraced = record.rows[9].traced = std::nullopt;
  record.rows[9].error = "open with O_DIRECT: EINVAL | no O_DIRECT";
  record.rows[10].untraced = measured({9000, 9100, 9200, 9050, 9070, 9080}, 0.98);
  record.rows[0].unavailable["page_cache.refault_pages"] = "not counted";
  return record;
}

}

TEST_CASE("markdown: every kind of row, and nothing from outside takes effect") {
  std::string text = rendered("markdown", mixed_record());
  CHECK(text == expected_text("mixed.md", text));
}

TEST_CASE("markdown: an interrupted run without rows") {
  RunRecord record = example_record();
  record.partial = true;
  std::string text = rendered("markdown", record);
  CHECK(text.starts_with("**Partial: "));
  CHECK(text.find("Nothing was measured.\n") != std::string::npos);
  CHECK(text.find("No findings.\n") != std::string::npos);
}

TEST_CASE("markdown: text is seen as it is") {
  CHECK(markdown_text("mmap_lock, _x_, a*b, 2 < 3, |, ~, `q`") ==
        "mmap_lock, \\_x\\_, a\\*b, 2 \\< 3, \\|, \\~, \\`q\\`");
  CHECK(markdown_text("ratio [95 % interval] (T01), [x](y), [x]: z") ==
        "ratio [95 % interval] (T01), [x\\](y), [x\\]: z");
  CHECK(markdown_text("back\\slash\n&amp; @name #1") ==
        "back\\\\slash\\\\x0a\\&amp; @<!-- -->name #<!-- -->1");
}

TEST_CASE("markdown: a table leaves out columns without a number, but no label") {
  MarkdownTable table({"a", "b", "c"}, 1);
  table.add_row({"", "", "1"});
  table.add_row({"", "-", "-"});
  CHECK(table.render() == "| a    |    c |\n| :--- | ---: |\n|      |    1 |\n|      |    - |\n");
}

TEST_CASE("json: the findings alone, worst first, with their rows spelled out") {
  std::string text = rendered("json", record_of({misaligned_row(4, kOps), cold_row("pread", 1, {500, 505})}));
  CHECK(text == expected_text("findings.json", text));
  CHECK(rendered("json", example_record()) == "[]\n");
}

TEST_CASE("json: bytes that are no UTF-8 do not end it") {
  RunRecord record = record_of({misaligned_row(1, kOps)});
  record.rows[0].strategy = "bad\xff";
  CHECK(rendered("json", record).find("bad\xEF\xBF\xBD") != std::string::npos);
}
