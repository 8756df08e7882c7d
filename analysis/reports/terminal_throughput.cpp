#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/table.h"

namespace iotrace::terminal {

namespace {

TableCell cell_of(const Row& row, char mark, const Samples& samples) {
  std::string text = throughput_text(row, samples);
  if (row.error) return {text, Style::kBad};
  if (row.drifted) return {text, Style::kCaution};
  return {text + (mark == ' ' ? "" : fmt::format(" {}", mark)), mark == '*' ? Style::kGood : Style::kPlain};
}

Table table_of(const RunRecord& record, const RowGroup& group, const Samples& samples) {
  std::vector<TableColumn> columns{{"strategy", false}};
  for (const Ranking& ranking : group.rankings) columns.push_back({threads_name(ranking.threads)});
  Table table(std::move(columns), 1);

  auto marks = marks_of(group);
  std::vector<std::pair<std::string, std::vector<TableCell>>> lines;
  for (std::uint32_t index : in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    if (lines.empty() || lines.back().first != row_name(row))
      lines.push_back({row_name(row), std::vector<TableCell>(group.rankings.size())});
    auto column = std::ranges::find(group.rankings, row.threads, &Ranking::threads) - group.rankings.begin();
    auto mark = marks.find(index);
    TableCell cell = cell_of(row, mark == marks.end() ? ' ' : mark->second, samples);
    bool column_has_marks = std::ranges::any_of(
        marks, [&](const auto& m) { return record.rows[m.first].threads == row.threads; });
    // Marks hang to the right of the numbers, which stay aligned.
    if (column_has_marks && mark == marks.end()) cell.text += "  ";
    lines.back().second[static_cast<std::size_t>(column)] = std::move(cell);
  }
  for (auto& [name, cells] : lines) {
    cells.insert(cells.begin(), TableCell(name));
    table.add_row(std::move(cells));
  }
  return table;
}

}

std::string throughput_table(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  Samples samples = samples_of(record, group);
  std::string out =
      '\n' + note(samples.unit) + table_of(record, group, samples).render(kTerminalWidth, options.colour);
  for (const std::string& sentence : throughput_sentences(record, group, "*")) out += note(sentence);
  return out;
}

}
