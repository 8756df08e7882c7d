// Formats for other programs: csv and fio, byte for byte, and by the judgement of fio's own reader.
// IOTRACE_UPDATE_GOLDEN=1 writes the expected texts anew: read the diff.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/reports/report.h"
#include "tests/golden/attach_example.h"
#include "tests/golden/example_record.h"
#include "tests/skip.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string rendered(std::string_view name, const RunRecord& record) {
  for (const ReportFormat& format : report_formats())
    if (format.name == name) return format.render(record, {});
  FAIL("no such format");
  return {};
}

RunRecord table_record() {
  RunRecord record =
      record_of({hinted_row(4, kOps), cold_row("pread", 1, kOps), cold_row("direct", 1, kOps)});
  record.rows[1].pattern = "sequential";
  record.rows[2].untraced = record.rows[2].traced = std::nullopt;
  record.rows[2].error = "open with O_DIRECT: \"EINVAL\", no O_DIRECT";
  return record;
}

// Cells of each line; quotes are taken off.
std::vector<std::vector<std::string>> parsed_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      lines.back().back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      lines.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      lines.push_back({""});
    } else {
      lines.back().back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

std::string cell(const std::vector<std::vector<std::string>>& lines, std::size_t line,
                 const std::string& name) {
  const auto column = std::ranges::find(lines[0], name);
  INFO(name);
  REQUIRE(column != lines[0].end());
  return lines[line][static_cast<std::size_t>(column - lines[0].begin())];
}

}

TEST_CASE("csv: rows of a run, byte for byte") {
  const std::string text = rendered("csv", table_record());
  CHECK(text == expected_text("run.csv", text));
}

TEST_CASE("csv: a line a row, each with every column once, and what is not there is empty") {
  const auto lines = parsed_csv(rendered("csv", table_record()));
  REQUIRE(lines.size() == 4);
  CHECK(std::set(lines[0].begin(), lines[0].end()).size() == lines[0].size());
  for (const auto& line : lines) CHECK(line.size() == lines[0].size());
  CHECK(cell(lines, 1, "untraced.ops_per_ms.median") == "0.12");
  CHECK(cell(lines, 1, "faults.waited.lat_ns.percentile.99.000000") == "40000");
  CHECK(cell(lines, 1, "untraced.lat_ns.N") == "720");
  CHECK(cell(lines, 2, "faults.waited.count") == "0");
  CHECK(cell(lines, 2, "page_cache.added_pages") == "");
  CHECK(cell(lines, 2, "page_cache.by.fault") == "");
  CHECK(cell(lines, 3, "untraced.ops_per_ms.n") == "");
  CHECK(cell(lines, 3, "error") == "open with O_DIRECT: \"EINVAL\", no O_DIRECT");
  CHECK(parsed_csv(rendered("csv", example_record()))[0] == lines[0]);
}

TEST_CASE("csv: files of a watch, whatever they are called") {
  RunRecord record = lucene_record();
  record.files[0].path = "/data/a,\"b\"\nc\xff.fdt";
  const auto lines = parsed_csv(rendered("csv", record));
  REQUIRE(lines.size() == 1 + record.files.size());
  for (const auto& line : lines) CHECK(line.size() == lines[0].size());
  CHECK(cell(lines, 1, "path") == "/data/a,\"b\"\nc\uFFFD.fdt");
  CHECK(cell(lines, 1, "page_cache.added_pages") == "244000");
  CHECK(cell(lines, 1, "command") == "attach");
}

TEST_CASE("fio: a job a row, byte for byte") {
  const std::string text = rendered("fio", table_record());
  CHECK(text == expected_text("run.fio.json", text));
}

TEST_CASE("fio: its own reader finds every op of every job") {
  if (std::system("command -v fio_jsonplus_clat2csv >/dev/null && python3 -c 'import six'") != 0)
    skip("fio_jsonplus_clat2csv is not installed (packages fio, python3-six)");
  RunRecord record = table_record();
  // Past fio's last bin: an op of 20 s.
  record.rows[1].untraced->lat_ns.add(20'000'000'000);
  std::string folder = "/tmp/iotrace-fio-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()));
  std::ofstream(folder + "/run.json") << rendered("fio", record);
  const std::string tool = "cd " + folder + " && timeout 60 fio_jsonplus_clat2csv run.json run.csv ";
  CHECK(std::system((tool + ">/dev/null").c_str()) == 0);
  CHECK(std::system((tool + "--validate >/dev/null").c_str()) == 0);
  std::ifstream made(folder + "/run_job1.csv");
  const std::string text{std::istreambuf_iterator<char>(made), {}};
  CHECK(text.find("17112760320, , , , 1, 721, 1.0") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("formats: no two share a name or an extension, and the longest extension decides") {
  std::set<std::string_view> names, extensions;
  for (const ReportFormat& format : report_formats()) {
    CHECK(names.insert(format.name).second);
    if (format.extension.empty()) continue;
    CHECK(format.extension.starts_with('.'));
    CHECK(extensions.insert(format.extension).second);
    CHECK(format_for("a" + std::string(format.extension)) == &format);
  }
  CHECK(format_for("a.xlsx") == nullptr);
}
