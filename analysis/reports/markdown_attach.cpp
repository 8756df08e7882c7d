// An attach record for a pull request or an issue: the tables, the findings, and behind a fold what is needed
// to believe them.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/attach_report.h"
#include "analysis/reports/markdown_text.h"
#include "analysis/reports/wording.h"
#include "analysis/reports/wording_attach.h"

namespace iotrace {

namespace {

using namespace wording;

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return markdown_text(text);
}

// Blanks that set a file under its extension's sum vanish in Markdown.
std::string label(const std::string& cell) {
  const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
  std::string out;
  for (std::size_t i = 0; i < blanks; ++i) out += "&nbsp;";
  return out + markdown_text(cell.substr(blanks));
}

std::string list_item(std::string_view text) {
  return fmt::format("- {}\n", text);
}

std::string section(const AttachTable& content) {
  std::vector<std::string> headings;
  for (const std::string& column : content.columns) headings.push_back(on_one_line(column));
  MarkdownTable table(headings, content.labels);
  for (const auto& line : content.lines) {
    std::vector<std::string> cells;
    for (const std::string& cell : line) cells.push_back(label(cell));
    table.add_row(std::move(cells));
  }
  std::string out = fmt::format("**{}**\n\n", on_one_line(content.heading));
  if (!table.empty()) out += table.render() + '\n';
  for (const std::string& sentence : content.sentences) out += list_item(markdown_text(sentence));
  return content.sentences.empty() ? out : out + '\n';
}

}

std::string render_markdown_attach(const RunRecord& record, const ReportOptions& options) {
  std::string out =
      fmt::format("### {}\n\n", markdown_text(fmt::format("{}", fmt::join(watch_facts(record), ", "))));
  if (record.partial) out += "**Ended before its time; this is what was seen by then.**\n\n";
  if (auto quiet = quiet_words(record); !quiet.empty()) {
    out += markdown_text(quiet) + "\n\n";
  } else {
    for (const AttachTable& table : attach_tables(record, options.top)) out += section(table);
    const std::vector<std::string> sentences = memory_words(record);
    for (const std::string& sentence : sentences) out += list_item(markdown_text(sentence));
    if (!sentences.empty()) out += '\n';
  }
  out += markdown_findings(record);

  out += "<details><summary>Host, cost, probes</summary>\n\n";
  out += list_item(
      markdown_text(fmt::format("iotrace {} {}, {}", record.iotrace, record.command, record.started)));
  out += list_item("host: " + markdown_text(fmt::format("{}", fmt::join(host_facts(record.host), ", "))));
  if (auto cost = cost_words(record); !cost.empty()) out += list_item("cost: " + markdown_text(cost));
  if (record.target)
    for (const std::string& note : record.target->notes) out += list_item("note: " + markdown_text(note));
  if (auto probes = probe_facts(totals_as_row(record)); !probes.empty())
    out += list_item("probes: " + markdown_text(fmt::format("{}", fmt::join(probes, ", "))));
  for (const std::string& words : loss_words(record)) out += list_item(markdown_text(words));
  for (const std::string& words : unavailable_words(record))
    out += list_item("not available: " + markdown_text(words));
  return out + "\n</details>\n";
}

}
