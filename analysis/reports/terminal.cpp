// The default report: per case who is fastest and why, then what is wrong and what to change. At most 100
// columns, complete without colour, made to be pasted.

#include "analysis/attach_facts.h"
#include "analysis/reports/attach_report.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/text.h"

namespace iotrace {

namespace terminal {

std::string note(std::string_view text, std::size_t indent) {
  return wrap(text, kTerminalWidth, indent) + '\n';
}

}

namespace {

std::string render_terminal(const RunRecord& record, const ReportOptions& options) {
  using namespace terminal;
  if (of_attach(record)) return render_terminal_attach(record, options);
  std::string out = head(record, options);
  for (const RowGroup& group : row_groups(record)) {
    out += '\n' + group_heading(record, group, options);
    const bool open = open_loop(record.rows[group.rows.front()]);
    out += open ? response_times(record, group, options) : throughput_table(record, group, options);
    out += why_tables(record, group, options);
    out += hints(record, group, options);
    if (options.details) out += details(record, group, options);
    if (options.histograms) out += fault_histograms(record, group);
  }
  out += record.rows.empty() ? "\nNothing was measured.\n" : why_legend(record);
  out += memory_sweep(record, options);
  out += published_results(record, options);
  out += probe_lines(record);
  return out + '\n' + findings_list(record, options);
}

}

extern const ReportFormat terminal_report;
const ReportFormat terminal_report{"terminal", "tables, reasons and findings in at most 110 columns",
                                   render_terminal, false, ".txt"};

}
