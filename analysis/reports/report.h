#pragma once
// A report format: a record rendered as text. Each lives in a file of its own and has one line in
// registry.cpp. Copy json.cpp to start a new one.

#include <span>
#include <string>
#include <string_view>

#include "analysis/reference.h"
#include "analysis/run_record.h"

namespace iotrace {

struct ReportOptions {
  bool colour = false;
  bool histograms = false;
  bool details = false;                    // what the probes know beyond the why tables
  const Publication* reference = nullptr;  // set beside the rows, by the formats for people
};

struct ReportFormat {
  std::string_view name;  // "terminal"
  std::string_view summary;
  std::string (*render)(const RunRecord&, const ReportOptions&);
};

std::span<const ReportFormat> report_formats();

}
