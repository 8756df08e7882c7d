// A comparison for a pull request. GitHub-flavoured.

#include <fmt/format.h>

#include "analysis/compare/compare_report.h"
#include "analysis/compare/wording.h"
#include "analysis/reports/markdown_text.h"

namespace iotrace {

namespace {

using namespace compare_wording;

std::string item(std::string_view text) {
  return fmt::format("- {}\n", markdown_text(text));
}

std::string section(const Comparison& all, const CellTable& table) {
  Lines lines = lines_of(all, table);
  std::vector<std::string> headings;
  for (const std::string& column : lines.columns) headings.push_back(markdown_text(column));
  MarkdownTable text(headings, 2);
  for (const auto& line : lines.lines) {
    std::vector<std::string> row;
    for (const LineCell& cell : line) {
      const bool proven = cell.verdict == Verdict::kFaster || cell.verdict == Verdict::kSlower;
      row.push_back(proven ? fmt::format("**{}**", markdown_text(cell.text)) : markdown_text(cell.text));
    }
    text.add_row(std::move(row));
  }
  std::string out =
      fmt::format("### {}\n\n{}; more is better; bold: proven\n\n{}\n", markdown_text(heading_of(all, table)),
                  markdown_text(unit_of(all, table)), text.render());
  for (const std::string& sentence : verdict_sentences(all, table)) out += item(sentence);
  for (const std::string& sentence : why_sentences(all, table)) out += item("why: " + sentence);
  return out + '\n';
}

std::string differences(const Comparison& all) {
  if (all.differences.empty()) return {};
  std::vector<std::string> headings{"what differs"};
  for (std::uint32_t i = 0; i < all.records.size(); ++i) headings.push_back(letter_of(i));
  MarkdownTable table(headings, headings.size());
  for (const RecordDifference& difference : all.differences) {
    std::vector<std::string> row{markdown_text(difference.what)};
    for (const std::string& value : difference.values) row.push_back(markdown_text(value));
    table.add_row(std::move(row));
  }
  return table.render() + '\n';
}

std::string render_markdown(const Comparison& all, const CompareOptions&) {
  std::string out;
  for (const std::string& line : record_lines(all)) out += item(line);
  out += '\n';
  for (const CellTable& table : all.tables) out += section(all, table);
  out += "### Sum\n\n";
  for (const std::string& line : summary_lines(all)) out += item(line);
  for (const std::string& line : unmatched_lines(all)) out += item(line);
  out += '\n' + differences(all);
  if (!all.warnings.empty()) out += "What makes it unfair:\n\n";
  for (const std::string& warning : all.warnings) out += item(warning);
  return out + (all.warnings.empty() ? "" : "\n") + markdown_text(legend(all)) + '\n';
}

}

extern const CompareFormat markdown_comparison;
const CompareFormat markdown_comparison{"markdown", render_markdown};

}
