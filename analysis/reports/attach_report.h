#pragma once
// The formats for people, of a record that attach wrote.

#include <string>

#include "analysis/reports/report.h"

namespace iotrace {

// At most 110 columns.
std::string render_terminal_attach(const RunRecord& record, const ReportOptions& options);

std::string render_markdown_attach(const RunRecord& record, const ReportOptions& options);

}
