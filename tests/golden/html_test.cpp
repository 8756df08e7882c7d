// The HTML report's data, and that nothing from outside gets out of it. How it is drawn: tests/browser.
// IOTRACE_UPDATE_GOLDEN=1 writes the expected texts anew: read the diff.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/record_json.h"
#include "analysis/reports/report.h"
#include "tests/golden/attach_example.h"
#include "tests/golden/example_record.h"
#include "tests/golden/page_json.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

using Json = nlohmann::ordered_json;

std::string page_of(RunRecord record) {
  record.findings = judge(record);
  for (const ReportFormat& format : report_formats())
    if (format.name == "html") return format.render(record, {});
  FAIL("no such format");
  return {};
}

std::string data_of(const RunRecord& record) {
  return json_of(page_of(record), "data").dump(1, ' ', false) + '\n';
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Hints that fail, that work and that are not needed; waste; two thread counts; drifted, an error.
RunRecord pictured_record() {
  RunRecord record =
      record_of({misaligned_row(1, kOps), hinted_row(1, {650, 655, 640, 645, 651, 652}),
                 waste_row(1, {5, 5, 6, 5, 5, 5}), hinted_row(4, {1000, 1010, 1020, 1005, 990, 995}),
                 cold_row("mmap", 4, {9000, 9100, 9200, 9050, 9070, 9080}), cold_row("direct", 1, {1})});
  record.rows[1].time = TimeSplit{0.25, 0.5, 0.0, 0.25, std::nullopt};
  record.rows[1].hints = Hints{.issued = 10'400,
                               .rejected = 0,
                               .in_time_pages = 32'000,
                               .late_pages = 16'000,
                               .needless_pages = 0,
                               .useless_pages = 640,
                               .truncated_pages = 0};
  record.rows[4].untraced = measured({9000, 9100, 9200, 9050, 9070, 9080}, 0.98);
  record.rows[5].untraced = record.rows[5].traced = std::nullopt;
  record.rows[5].error = "open with O_DIRECT: EINVAL";
  summarise(record);
  return record;
}

RunRecord watched_record() {
  RunRecord record = lucene_record();
  for (int i = 0; i < 3; ++i)
    record.intervals.push_back({.begin_s = 1.0 * i,
                                .seconds = 2,
                                .waiting_faults = Count(100 + i),
                                .added_pages = Count(2048 * i),
                                .device_read_bytes = Count(8 << 20),
                                .fault_wait_s = 3});
  return record;
}

constexpr const char* kHostile =
    "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>{{record}}&\"'";

}

TEST_CASE("html: the data of a run's page, byte for byte") {
  const std::string text = data_of(pictured_record());
  CHECK(text == expected_text("html_run.json", text));
}

TEST_CASE("html: the data of an attach's page, byte for byte") {
  const std::string text = data_of(watched_record());
  CHECK(text == expected_text("html_attach.json", text));
}

TEST_CASE("html: one page that needs nothing else, and holds the record") {
  const RunRecord record = pictured_record();
  const std::string page = page_of(record);
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.find("Chart.js v") != std::string::npos);
  CHECK(page.find("{{") == page.npos);
  for (const char* outside : {" src=\"", "@import", "url(", "<link"}) {
    INFO(outside);
    CHECK(page.substr(0, page.find("Chart.js v")).find(outside) == std::string::npos);
  }
  RunRecord judged = record;
  judged.findings = judge(judged);
  CHECK(json_of(page, "record") == Json::parse(to_json_text(judged)));
}

TEST_CASE("html: text from outside is text, in a run and in an attach") {
  RunRecord run = pictured_record();
  run.file.path = run.rows[0].strategy = kHostile;
  *run.rows[5].error += kHostile;
  RunRecord watch = watched_record();
  watch.files[0].path = watch.threads[0].name = watch.target->asked = kHostile;
  const std::size_t scripts = count_of(page_of(pictured_record()), "<script");
  for (const RunRecord& record : {run, watch}) {
    const std::string page = page_of(record);
    CHECK(count_of(page, "<script") == scripts);
    CHECK(count_of(page, "</script>") == scripts);
    CHECK(page.find("<img") == std::string::npos);
    CHECK(page.find("<!--") == std::string::npos);
    CHECK(json_of(page, "data").dump().find("</script><script>alert(1)") != std::string::npos);
    CHECK(json_of(page, "record").is_object());
  }
}

TEST_CASE("html: an interrupted run without rows, and a quiet process") {
  RunRecord record = example_record();
  record.partial = true;
  const Json data = json_of(page_of(record), "data");
  CHECK(data["notes"].size() == 2);
  CHECK(data["sections"].empty());
  CHECK(data["findings"].empty());
  CHECK(json_of(page_of(idle_record()), "data").dump().find("nothing waited in 10.0 s") != std::string::npos);
}

TEST_CASE("html: bytes that are no UTF-8 do not end it") {
  RunRecord record = pictured_record();
  record.file.path = "bad\xff";
  record.rows[0].strategy = "bad\xfe";
  CHECK(json_of(page_of(record), "data").dump().find("bad\\\\xfe") != std::string::npos);
}
