#include "analysis/reports/report.h"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "analysis/attach_facts.h"

namespace iotrace {

// One line each, declared and listed. The first is what run prints.
#define IOTRACE_REPORTS(REPORT)                                                                              \
  REPORT(terminal)                                                                                           \
  REPORT(markdown)                                                                                           \
  REPORT(jmh)                                                                                                \
  REPORT(json)                                                                                               \
  REPORT(openmetrics)                                                                                        \
  REPORT(html)                                                                                               \
  REPORT(csv)                                                                                                \
  REPORT(fio)                                                                                                \
  REPORT(folded)                                                                                             \
  REPORT(trace)

#define DECLARE(report) extern const ReportFormat report##_report;
IOTRACE_REPORTS(DECLARE)
#undef DECLARE

std::span<const ReportFormat> report_formats() {
#define LIST(report) report##_report,
  static const std::array kFormats{IOTRACE_REPORTS(LIST)};
#undef LIST
  return kFormats;
}

const ReportFormat* format_for(std::string_view path) {
  const ReportFormat* best = nullptr;
  for (const ReportFormat& format : report_formats())
    if (!format.extension.empty() && path.ends_with(format.extension) &&
        (!best || format.extension.size() > best->extension.size()))
      best = &format;
  return best;
}

Status can_render(const ReportFormat& format, const RunRecord& record) {
  if (format.possible)
    if (Status possible = format.possible(record); !possible) return possible;
  if (!format.of_rows || !of_attach(record)) return {};
  std::vector<std::string_view> others;
  for (const ReportFormat& other : report_formats())
    if (!other.of_rows) others.push_back(other.name);
  return usage_error(fmt::format("format {} shows the rows of a run, and attach has none; use --format {}",
                                 format.name, fmt::join(others, ", ")));
}

}
