// What compare prints: per table the cells and what explains them, then the sum of it, and what makes it
// unfair. At most 110 columns, complete without colour.

#include <fmt/format.h>

#include "analysis/compare/compare_report.h"
#include "analysis/compare/wording.h"
#include "analysis/table.h"

namespace iotrace {

namespace {

using namespace compare_wording;

// A cell with two intervals, a change and p takes more than a row of `run`.
constexpr std::size_t kWidth = 110;

std::string note(std::string_view text, std::size_t indent = 2) {
  return wrap(text, kWidth, indent) + '\n';
}

Style style_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::kFaster: return Style::kGood;
  case Verdict::kSlower: return Style::kBad;
  case Verdict::kCannotTell: return Style::kCaution;
  case Verdict::kNoneProven: break;
  }
  return Style::kPlain;
}

std::string cells(const Comparison& all, const CellTable& table, bool colour) {
  Lines lines = lines_of(all, table);
  std::vector<TableColumn> columns;
  for (std::string& heading : lines.columns) columns.push_back({std::move(heading), columns.size() >= 2});
  Table text(std::move(columns), 2);
  for (auto& line : lines.lines) {
    std::vector<TableCell> row;
    for (LineCell& cell : line) row.emplace_back(std::move(cell.text), style_of(cell.verdict));
    text.add_row(std::move(row));
  }
  return text.render(kWidth, colour);
}

std::string section(const Comparison& all, const CellTable& table, bool colour) {
  std::string out = '\n' + styled(note(heading_of(all, table)), Style::kHeading, colour) +
                    note(unit_of(all, table)) + cells(all, table, colour);
  for (const std::string& sentence : verdict_sentences(all, table)) out += note(sentence);
  const auto why = why_sentences(all, table);
  if (!why.empty()) out += note("what moved with it:");
  for (const std::string& sentence : why) out += note("  " + sentence, 4);
  return out;
}

std::string differences(const Comparison& all, bool colour) {
  if (all.within()) return {};
  if (all.differences.empty()) return note("The records know of no difference between hosts and files.");
  std::vector<TableColumn> columns{{"what differs", false}};
  for (std::uint32_t i = 0; i < all.records.size(); ++i) columns.push_back({letter_of(i), false});
  Table table(std::move(columns), 1);
  for (const RecordDifference& difference : all.differences) {
    std::vector<TableCell> row{{difference.what}};
    for (const std::string& value : difference.values) row.emplace_back(value);
    table.add_row(std::move(row));
  }
  return table.render(kWidth, colour);
}

std::string render_terminal(const Comparison& all, const CompareOptions& options) {
  std::string out;
  for (const std::string& line : record_lines(all)) out += note(line, 4);
  for (const CellTable& table : all.tables) out += section(all, table, options.colour);
  out += '\n';
  for (const std::string& line : summary_lines(all)) out += note(line);
  for (const std::string& line : unmatched_lines(all)) out += note(line);
  if (!all.within()) out += '\n' + differences(all, options.colour);
  if (!all.warnings.empty()) out += "\nWhat makes it unfair:\n";
  for (const std::string& warning : all.warnings) out += note("  " + warning, 4);
  return out + '\n' + note(legend(all));
}

}

extern const CompareFormat terminal_comparison;
const CompareFormat terminal_comparison{"terminal", render_terminal};

}
