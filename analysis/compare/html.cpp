// A comparison as one self-contained page: the records' throughputs and latencies over each other, cell by
// cell. The page is that of the records themselves (analysis/reports/html_parts.h).

#include <fmt/format.h>

#include "analysis/compare/compare_report.h"
#include "analysis/compare/wording.h"
#include "analysis/format.h"
#include "analysis/reports/html_parts.h"
#include "analysis/text.h"

namespace iotrace {

extern const CompareFormat json_comparison;

namespace {

using namespace compare_wording;
using page::Json;

// A row in one of the table's columns, which has a colour of its own.
struct Placed {
  const Row* row = nullptr;
  std::size_t column = 0;
};

// The base first. In the table each other record has three columns: throughput, change, p.
std::vector<Placed> rows_of(const Comparison& all, const ComparedCell& cell) {
  std::vector<Placed> rows{{&all.row(cell.base), 0}};
  for (const Difference& difference : cell.against)
    rows.push_back({&all.row(difference.place), all.within() ? 1 : difference.place.record});
  return rows;
}

std::string column_name(const Lines& lines, std::size_t column) {
  return lines.columns[column == 0 ? 2 : 3 * column];
}

// "mmap T04": of the row that is compared with the base.
std::string cell_name(const Comparison& all, const ComparedCell& cell) {
  const Row& row = all.row(cell.against.empty() ? cell.base : cell.against.front().place);
  return fmt::format("{} {}", printable(row.strategy), threads_name(row.threads));
}

Json section_of(const Comparison& all, std::size_t number) {
  const CellTable& table = all.tables[number];
  const Lines lines = lines_of(all, table);
  auto id = [&](std::size_t line) { return fmt::format("cell-{}-{}", number, line); };

  Json numbers = page::table("", 2, lines.columns);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lines.lines.size(); ++i) {
    std::vector<std::string> cells;
    for (const LineCell& cell : lines.lines[i]) cells.push_back(cell.text);
    page::add_line(numbers, std::move(cells), id(i));
    names.push_back(cell_name(all, table.cells[i]));
  }
  page::Intervals throughput("", names);
  page::Distributions latency;
  for (std::size_t i = 0; i < table.cells.size(); ++i)
    for (const auto& [row, column] : rows_of(all, table.cells[i])) {
      const Measurement* measured = row->error ? nullptr : throughput_measurement(*row);
      if (!measured) continue;
      const std::string name = column_name(lines, column);
      if (measured->ops_per_ms.median)
        throughput.add(name, column, false, i, measured->ops_per_ms,
                       interval(measured->ops_per_ms) + " ops/ms", id(i));
      latency.add(names[i], name, column, false, measured->lat_ns);
    }

  std::vector<std::string> sentences = verdict_sentences(all, table);
  for (const std::string& why : why_sentences(all, table)) sentences.push_back("why: " + why);
  std::vector<Json> blocks{page::block("Throughput", unit_of(all, table) + "; more is better",
                                       std::move(throughput).plot(), {std::move(numbers)},
                                       std::move(sentences))};
  if (!latency.empty())
    blocks.push_back(page::block("Latency of an op", "share of samples in each step; four steps an octave",
                                 std::move(latency).plot(), {}));
  return {{"id", fmt::format("section-{}", number)},
          {"title", heading_of(all, table)},
          {"note", ""},
          {"blocks", std::move(blocks)}};
}

Json findings_of(const Comparison& all) {
  Json findings = Json::array();
  for (const std::string& warning : all.warnings)
    findings.push_back({{"severity", "warn"},
                        {"id", "fairness"},
                        {"text", printable(warning)},
                        {"remedy", ""},
                        {"source", ""},
                        {"links", Json::array()}});
  return findings;
}

Json facts_of(const Comparison& all) {
  std::vector<std::string> columns{"what differs"};
  for (std::uint32_t i = 0; i < all.records.size(); ++i) columns.push_back(letter_of(i));
  Json facts = page::table("", 1, std::move(columns));
  for (const RecordDifference& difference : all.differences) {
    std::vector<std::string> cells{printable(difference.what)};
    for (const std::string& value : difference.values) cells.push_back(printable(value));
    page::add_line(facts, std::move(cells));
  }
  if (all.differences.empty()) page::add_line(facts, {"nothing that the records know of"});
  return facts;
}

std::string render_html(const Comparison& all, const CompareOptions& options) {
  std::vector<std::string> notes = summary_lines(all);
  for (const std::string& line : unmatched_lines(all)) notes.push_back(line);
  Json sections = Json::array();
  for (std::size_t i = 0; i < all.tables.size(); ++i) sections.push_back(section_of(all, i));
  const Json data{{"title", "iotrace compare"},
                  {"subtitle", fmt::format("{}", fmt::join(record_lines(all), "; "))},
                  {"host", ""},
                  {"notes", std::move(notes)},
                  {"findings", findings_of(all)},
                  {"sections", std::move(sections)},
                  {"facts", facts_of(all)}};
  return page::whole_page(data, Json::parse(json_comparison.render(all, options)));
}

}

extern const CompareFormat html_comparison;
const CompareFormat html_comparison{"html", render_html};

}
