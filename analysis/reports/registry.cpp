#include "analysis/reports/report.h"

#include <array>

namespace iotrace {

// One line each, declared and listed. The first is what run prints.
#define IOTRACE_REPORTS(REPORT)                                                                              \
  REPORT(terminal)                                                                                           \
  REPORT(markdown)                                                                                           \
  REPORT(jmh)                                                                                                \
  REPORT(json)                                                                                               \
  REPORT(openmetrics)

#define DECLARE(report) extern const ReportFormat report##_report;
IOTRACE_REPORTS(DECLARE)
#undef DECLARE

std::span<const ReportFormat> report_formats() {
#define LIST(report) report##_report,
  static const std::array kFormats{IOTRACE_REPORTS(LIST)};
#undef LIST
  return kFormats;
}

}
