#include "analysis/reports/detail_tables.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/table.h"

namespace iotrace::terminal {

namespace {

std::string rendered(const ResponseTable& times, const ReportOptions& options) {
  std::vector<TableColumn> columns;
  for (const std::string& column : times.columns) columns.push_back({column, columns.size() >= 1});
  Table table(std::move(columns), 2);
  for (const auto& line : times.lines) table.add_row({line.begin(), line.end()});
  std::string out = '\n' + note(times.heading);
  if (!table.empty()) out += table.render(kTerminalWidth, options.colour);
  for (const std::string& sentence : times.sentences) out += note(sentence);
  return out;
}

}

std::string response_times(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  return rendered(response_table(record, group), options);
}

std::string hints(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  const auto card = hint_card(record, group);
  return card ? rendered(*card, options) : "";
}

std::string details(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  std::string out;
  for (const ResponseTable& table : detail_tables(record, group)) out += rendered(table, options);
  return out.empty() ? '\n' + note("no details: the record holds none of these rows") : out;
}

std::string memory_sweep(const RunRecord& record, const ReportOptions& options) {
  const auto sweep = sweep_table(record);
  return sweep ? rendered(*sweep, options) : "";
}

std::string published_results(const RunRecord& record, const ReportOptions& options) {
  return options.reference ? rendered(published_table(record, *options.reference), options) : "";
}

}
