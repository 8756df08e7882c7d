// Every format of compare, byte for byte. IOTRACE_UPDATE_GOLDEN=1 writes the expected texts anew: read the
// diff.

#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/compare/compare_report.h"
#include "analysis/text.h"
#include "tests/golden/example_record.h"
#include "tests/golden/page_json.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string rendered(std::string_view name, const Comparison& all, bool colour = false) {
  for (const CompareFormat& format : compare_formats())
    if (format.name == name) return format.render(all, {.colour = colour});
  FAIL("no such format");
  return {};
}

Comparison compared(std::vector<NamedRecord> records, std::optional<Dimension> by = std::nullopt) {
  for (NamedRecord& named : records) summarise(named.record);
  auto all = compare_records(std::move(records), by);
  REQUIRE(all);
  return std::move(*all);
}

// An old kernel against a new one: proven faster and slower, not told apart, drifted, in one record only.
RunRecord before() {
  RunRecord record = example_record();
  record.host.kernel = "6.1.0-25-amd64";
  record.host.per_vma_locks = false;
  record.rows = {mmap_random_row("mmap-random", 1, {120, 121, 122, 119, 118, 120}),
                 mmap_random_row("mmap-random", 4, {400, 410, 405, 395, 402, 403}),
                 waste_row(1, {5, 5, 6, 5, 5, 5}),
                 cold_row("pread", 1, {500, 505, 510, 495, 498, 501}),
                 cold_row("direct", 1, {700, 701, 702, 703, 704, 705}),
                 cold_row("io_uring", 1, {900, 901, 902, 903, 904, 905})};
  for (Row& row : record.rows) row.noise_floor_ratio = 0.02;
  return record;
}

RunRecord after() {
  RunRecord record = example_record();
  record.started = "2026-11-30T16:00:00Z";
  record.seed = 43;
  record.rows = {mmap_random_row("mmap-random", 1, {240, 241, 242, 239, 238, 243}),
                 mmap_random_row("mmap-random", 4, {380, 382, 385, 379, 381, 383}),
                 hinted_row(1, {650, 655, 640, 645, 651, 652}),
                 cold_row("pread", 1, {502, 506, 514, 497, 499, 503}),
                 cold_row("direct", 1, {9000, 9100, 9200, 9050, 9070, 9080}),
                 cold_row("io_uring", 1, {905, 906, 907, 908, 909, 910})};
  record.rows[0].faults->under_mmap_lock = 100;
  record.rows[0].faults->under_vma_lock = 19'100;
  record.rows[0].faults->read = faults_of(9'600, 50'000);
  record.rows[1].faults->read = faults_of(60'800, 100'000);
  record.rows[4].untraced = measured({9000, 9100, 9200, 9050, 9070, 9080}, 0.98);
  for (Row& row : record.rows) row.noise_floor_ratio = 0.02;
  return record;
}

void check_width(const std::string& text) {
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = text.find('\n', start);
    INFO(text.substr(start, end - start));
    CHECK(display_width(text.substr(start, end - start)) <= 110);
    CHECK((end == start || text[end - 1] != ' '));
    start = end + 1;
  }
}

}

TEST_CASE("compare, terminal: two kernels") {
  std::string text = rendered("terminal", compared({{"6.1.json", before()}, {"6.18.json", after()}}));
  check_width(text);
  CHECK(text == expected_text("compare.txt", text));
}

TEST_CASE("compare, markdown: two kernels, and nothing from outside takes effect") {
  std::string text = rendered("markdown", compared({{"a|b_<i>\033[2J.json", before()}, {"b.json", after()}}));
  CHECK(text == expected_text("compare.md", text));
}

TEST_CASE("compare, json: two kernels") {
  std::string text = rendered("json", compared({{"6.1.json", before()}, {"6.18.json", after()}}));
  CHECK(text == expected_text("compare.json", text));
  CHECK(nlohmann::json::parse(text)["cells"].size() == 5);
}

TEST_CASE("compare, csv: two kernels, a name with a comma and a quote") {
  std::string text = rendered("csv", compared({{"6,\"1\".json", before()}, {"6.18.json", after()}}));
  CHECK(text == expected_text("compare.csv", text));
  CHECK(std::ranges::count(text, '\n') == 1 + 5);
}

TEST_CASE("compare, html: the page's data and its source, two kernels") {
  std::string text = rendered("html", compared({{"6.1.json", before()}, {"6.18.json", after()}}));
  const std::string data = json_of(text, "data").dump(1, ' ', false) + '\n';
  CHECK(data == expected_text("compare_html.json", data));
  CHECK(json_of(text, "record")["cells"].size() == 5);
}

TEST_CASE("compare, terminal: three records are columns against the first, grouped by threads") {
  std::string text = rendered(
      "terminal", compared({{"a1", before()}, {"b1", after()}, {"a2", before()}}, Dimension::kThreads));
  check_width(text);
  CHECK(text == expected_text("compare_three.txt", text));
}

TEST_CASE("compare, terminal: strategies within one record") {
  RunRecord record = example_record();
  record.rows = {mmap_random_row("mmap-random", 1, {120, 121, 122, 119, 118, 120}),
                 hinted_row(1, {650, 655, 640, 645, 651, 652}),
                 misaligned_row(1, {120, 121, 122, 119, 118, 121})};
  record.rows[0].time = TimeSplit{.running_s = 0.1, .fault_wait_s = 0.9, .read_wait_s = 0, .lock_wait_s = 0};
  record.rows[1].time = TimeSplit{.running_s = 0.5, .fault_wait_s = 0.5, .read_wait_s = 0, .lock_wait_s = 0};
  std::string text = rendered("terminal", compared({{"one.json", record}}, Dimension::kStrategy));
  check_width(text);
  CHECK(text == expected_text("compare_strategies.txt", text));
}

TEST_CASE("compare, terminal: under emulation counts are told, and no verdict") {
  RunRecord a = before(), b = after();
  a.host.virtualisation = b.host.virtualisation = "qemu";
  std::string text = rendered("terminal", compared({{"6.1.json", a}, {"6.18.json", b}}));
  check_width(text);
  CHECK(text == expected_text("compare_emulated.txt", text));
}

TEST_CASE("compare, terminal: colour changes nothing but escapes") {
  Comparison all = compared({{"a", before()}, {"b", after()}});
  std::string text = rendered("terminal", all, true), plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\033')
      i = text.find('m', i);
    else
      plain += text[i];
  CHECK(plain == rendered("terminal", all));
  CHECK(text != plain);
}
