#pragma once
// A report format: a record rendered as text. Each lives in a file of its own and has one line in
// registry.cpp. Copy json.cpp to start a new one.

#include <cstddef>
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
  std::size_t top = 10;                    // files, and kinds of threads, that an attach record names
};

struct ReportFormat {
  std::string_view name;  // "terminal"
  std::string_view summary;
  std::string (*render)(const RunRecord&, const ReportOptions&);
  bool of_rows = false;             // there is nothing to render without rows: not for attach
  std::string_view extension = {};  // ".html": what an output file is called that is to be of this format
  Status (*possible)(const RunRecord&) = nullptr;  // whether the record holds what it shows; null: always
};

// errors   usage: the record is one of attach, and the format shows rows alone; or it lacks what the format
//          shows
Status can_render(const ReportFormat& format, const RunRecord& record);

std::span<const ReportFormat> report_formats();

// The format whose extension the path ends in, the longest where several do; nullptr: none.
const ReportFormat* format_for(std::string_view path);

}
