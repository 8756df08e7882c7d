#include "analysis/reports/markdown_text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

// Three dashes are the least that every reader takes for a table's rule.
constexpr std::size_t kLeastWidth = 4;

bool word_character(std::string_view text, std::size_t at) {
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]));
}

}

std::string markdown_text(std::string_view text) {
  const std::string safe = printable(text);
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    char c = safe[i];
    // An underscore within a word is only an underscore: mmap_lock.
    bool within_word = c == '_' && i > 0 && word_character(safe, i - 1) && word_character(safe, i + 1);
    // Brackets make a link only together with what follows them: [95 % interval] is none.
    bool link = c == ']' && i + 1 < safe.size() &&
                std::string_view("([:").find(safe[i + 1]) != std::string_view::npos;
    bool special = std::string_view("\\`*_<>|~&").find(c) != std::string_view::npos;
    if (link || (special && !within_word)) out += '\\';
    out += c;
    // What would call somebody's name, or link to an issue.
    if ((c == '@' || c == '#') && word_character(safe, i + 1)) out += "<!-- -->";
  }
  return out;
}

std::string markdown_findings(const RunRecord& record) {
  std::string out = "#### Findings\n\n";
  if (record.findings.empty()) return out + "No findings.\n\n";
  for (const Finding& finding : record.findings)
    out += fmt::format("- **{}** {} *{}* (`{}`; {})\n", markdown_text(finding.severity),
                       markdown_text(finding.text), markdown_text(finding.remedy), finding.id,
                       markdown_text(finding.source));
  return out + '\n';
}

MarkdownTable::MarkdownTable(std::vector<std::string> headings, std::size_t labels)
    : labels_(labels), lines_{std::move(headings)} {}

void MarkdownTable::add_row(std::vector<std::string> cells) {
  cells.resize(lines_.front().size());
  lines_.push_back(std::move(cells));
}

std::string MarkdownTable::render() const {
  std::vector<std::string> out(lines_.size() + 1, "|");
  for (std::size_t column = 0; column < lines_.front().size(); ++column) {
    std::size_t width = kLeastWidth;
    bool some_cell = false;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      width = std::max(width, display_width(lines_[line][column]));
      some_cell |= line > 0 && !lines_[line][column].empty() && lines_[line][column] != kNotAvailable;
    }
    if (!some_cell && column >= labels_) continue;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      const std::string& cell = lines_[line][column];
      std::string space(width - display_width(cell), ' ');
      // The rule comes second.
      out[line == 0 ? 0 : line + 1] += ' ' + (column < labels_ ? cell + space : space + cell) + " |";
    }
    std::string dashes(width - 1, '-');
    out[1] += ' ' + (column < labels_ ? ':' + dashes : dashes + ':') + " |";
  }
  std::string text;
  for (const std::string& line : out) text += line + '\n';
  return text;
}

}
