// The default report: per case who is fastest and why, then what is wrong and what to change. At most 100
// columns, complete without colour, made to be pasted.

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/text.h"

namespace iotrace {

namespace terminal {

std::string row_name(const Row& row) {
  return printable(row.strategy) + (row.control ? " (A/A)" : "");
}

std::vector<std::uint32_t> in_reading_order(const RunRecord& record, const std::vector<std::uint32_t>& rows) {
  std::vector<std::string> strategies;
  auto place = [&](const std::string& strategy) {
    return std::ranges::find(strategies, strategy) - strategies.begin();
  };
  for (std::uint32_t index : rows)
    if (place(record.rows[index].strategy) == std::ssize(strategies))
      strategies.push_back(record.rows[index].strategy);

  std::vector<std::uint32_t> ordered = rows;
  std::ranges::stable_sort(ordered, {}, [&](std::uint32_t index) {
    const Row& row = record.rows[index];
    return std::tuple(place(row.strategy), row.control, row.threads);
  });
  return ordered;
}

std::string name_rows(const RunRecord& record, const std::vector<std::uint32_t>& rows) {
  std::string names, last;
  for (std::uint32_t index : in_reading_order(record, rows)) {
    std::string name = row_name(record.rows[index]);
    if (name != last) names += (names.empty() ? "" : ", ") + name;
    names += ' ' + threads_name(record.rows[index].threads);
    last = name;
  }
  return names;
}

std::string note(std::string_view text, std::size_t indent) {
  return wrap(text, kTerminalWidth, indent) + '\n';
}

}

namespace {

std::string render_terminal(const RunRecord& record, const ReportOptions& options) {
  using namespace terminal;
  std::string out = head(record, options);
  for (const RowGroup& group : row_groups(record)) {
    out += '\n' + group_heading(record, group, options);
    out += throughput_table(record, group, options);
    out += why_tables(record, group, options);
    if (options.histograms) out += fault_histograms(record, group);
  }
  out += record.rows.empty() ? "\nNothing was measured.\n" : why_legend();
  out += probe_lines(record, options);
  return out + '\n' + findings_list(record, options);
}

}

extern const ReportFormat terminal_report;
const ReportFormat terminal_report{"terminal", "tables, reasons and findings in at most 100 columns",
                                   render_terminal};

}
