// What attach prints at its end: whom it watched, then only what has something to say. Tables take up to 110
// columns, sentences 100 as in the other report.

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/attach_report.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/reports/wording_attach.h"
#include "analysis/table.h"

namespace iotrace {

namespace {

using namespace terminal;

constexpr std::size_t kAttachWidth = 110;
constexpr std::size_t kLabelWidth = 7;  // "watch  "

std::string labelled(std::string_view label, std::string_view text) {
  return note(fmt::format("{:<{}}{}", label, kLabelWidth, text), kLabelWidth);
}

std::string head_of(const RunRecord& record, const ReportOptions& options) {
  std::string out = styled(fmt::format("iotrace {} {}, {}", printable(record.iotrace),
                                       printable(record.command), printable(record.started)),
                           Style::kHeading, options.colour) +
                    '\n';
  if (record.partial)
    out += styled("ended before its time; this is what was seen by then", Style::kCaution, options.colour) +
           '\n';
  out += labelled("watch", fmt::format("{}", fmt::join(watch_facts(record), ", ")));
  out += labelled("host", fmt::format("{}", fmt::join(host_facts(record.host), ", ")));
  if (auto cost = cost_words(record); !cost.empty()) out += labelled("cost", cost);
  if (record.target)
    for (const std::string& text : record.target->notes) out += labelled("note", printable(text));
  return out;
}

std::string table_of(const AttachTable& content, const ReportOptions& options) {
  std::vector<TableColumn> columns;
  for (const std::string& heading : content.columns)
    columns.push_back({heading, columns.size() >= content.labels});
  Table table(std::move(columns), content.labels);
  for (const auto& line : content.lines) table.add_row({line.begin(), line.end()});
  std::string out = '\n' + styled(content.heading, Style::kHeading, options.colour) + '\n';
  if (!table.empty()) out += table.render(kAttachWidth, options.colour);
  for (const std::string& sentence : content.sentences) out += note(sentence);
  return out;
}

}

std::string render_terminal_attach(const RunRecord& record, const ReportOptions& options) {
  std::string out = head_of(record, options);
  if (auto quiet = quiet_words(record); !quiet.empty()) {
    out += '\n' + note(quiet);
  } else {
    for (const AttachTable& table : attach_tables(record, options.top)) out += table_of(table, options);
    std::string sentences;
    for (const std::string& sentence : memory_words(record)) sentences += note(sentence);
    if (!sentences.empty()) out += '\n' + sentences;
  }
  std::string unknown;
  for (const std::string& words : unavailable_words(record)) unknown += note("not available: " + words);
  if (!unknown.empty()) out += '\n' + unknown;
  out += probe_lines(totals_as_row(record));
  for (const std::string& words : loss_words(record)) out += note(words);
  return out + '\n' + findings_list(record, options);
}

}
