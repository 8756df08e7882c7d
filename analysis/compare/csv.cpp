// A comparison for a spreadsheet: a line a pair, every counter twice, base first. What is not known is empty.
// Fields are quoted as RFC 4180 has it, with LF between the lines.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/compare/compare_report.h"
#include "analysis/compare/wording.h"

namespace iotrace {

namespace {

std::string field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.9g}", *value) : "";
}

void add(std::vector<std::string>& line, const Estimate& estimate) {
  for (const auto& value : {estimate.median, estimate.low, estimate.high}) line.push_back(number(value));
  line.push_back(std::to_string(estimate.n));
}

void add_throughput(std::vector<std::string>& line, const Row& row) {
  const Measurement* measurement = throughput_measurement(row);
  add(line, measurement ? measurement->ops_per_ms : Estimate{});
}

void add_row(std::vector<std::string>& line, const Comparison& all, RowPlace place) {
  const Row& row = all.row(place);
  line.push_back(field(all.records[place.record].name));
  line.push_back(field(row.case_name));
  line.push_back(field(row.strategy));
  line.push_back(std::to_string(row.threads));
}

std::vector<std::string> headings() {
  std::vector<std::string> out{"pattern",   "read_size_bytes", "reads_per_op", "base_record",
                               "base_case", "base_strategy",   "base_threads", "record",
                               "case",      "strategy",        "threads"};
  for (const char* what : {"base_ops_per_ms", "ops_per_ms", "ratio"})
    for (const char* part : {"", "_low", "_high", "_n"}) out.push_back(fmt::format("{}{}", what, part));
  for (const char* what : {"p_adjusted", "verdict", "reason"}) out.emplace_back(what);
  for (const RowCounter& counter : row_counters())
    for (const char* side : {"base", "row"}) out.push_back(fmt::format("{}:{}", counter.key, side));
  return out;
}

std::vector<std::string> line_of(const Comparison& all, const ComparedCell& cell,
                                 const Difference& difference) {
  const Row& base = all.row(cell.base);
  std::vector<std::string> line{field(base.pattern), std::to_string(base.read_size_bytes),
                                std::to_string(base.reads_per_op)};
  add_row(line, all, cell.base);
  add_row(line, all, difference.place);
  add_throughput(line, base);
  add_throughput(line, all.row(difference.place));
  add(line, difference.ratio);
  line.push_back(number(difference.p_adjusted));
  line.emplace_back(compare_wording::verdict_name(difference.verdict));
  line.push_back(field(difference.reason));
  for (const RowCounter& counter : row_counters()) {
    auto change = std::ranges::find(difference.counters, &counter, &CounterChange::counter);
    const bool known = change != difference.counters.end();
    line.push_back(known ? number(change->from) : "");
    line.push_back(known ? number(change->to) : "");
  }
  return line;
}

std::string render_csv(const Comparison& all, const CompareOptions&) {
  std::string out = fmt::format("{}\n", fmt::join(headings(), ","));
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      for (const Difference& difference : cell.against)
        out += fmt::format("{}\n", fmt::join(line_of(all, cell, difference), ","));
  return out;
}

}

extern const CompareFormat csv_comparison;
const CompareFormat csv_comparison{"csv", render_csv};

}
