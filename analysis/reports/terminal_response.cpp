#include "analysis/reports/terminal_parts.h"
#include "analysis/table.h"

namespace iotrace::terminal {

namespace {

std::string rendered(const ResponseTable& times, const ReportOptions& options) {
  std::vector<TableColumn> columns;
  for (const std::string& column : times.columns) columns.push_back({column, columns.size() >= 1});
  Table table(std::move(columns), 2);
  for (const auto& line : times.lines) table.add_row({line.begin(), line.end()});
  std::string out = '\n' + note(times.heading) + table.render(kTerminalWidth, options.colour);
  for (const std::string& sentence : times.sentences) out += note(sentence);
  return out;
}

}

std::string response_times(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  return rendered(response_table(record, group), options);
}

std::string memory_sweep(const RunRecord& record, const ReportOptions& options) {
  const auto sweep = sweep_table(record);
  return sweep ? rendered(*sweep, options) : "";
}

std::string published_results(const RunRecord& record, const ReportOptions& options) {
  return options.reference ? rendered(published_table(record, *options.reference), options) : "";
}

}
