// The findings alone, for scripts: an array, worst first, with the rows, or attach's files, spelled out. The
// whole record is what -o writes.

#include <cmath>

#include <nlohmann/json.hpp>

#include "analysis/attach_facts.h"
#include "analysis/reports/report.h"

namespace iotrace {

namespace {

using Json = nlohmann::ordered_json;

Json row_key(const Row& row) {
  return {{"strategy", row.strategy}, {"case", row.case_name},  {"pattern", row.pattern},
          {"threads", row.threads},   {"control", row.control}, {"read_size_bytes", row.read_size_bytes}};
}

Json file_key(const AttachedFile& file) {
  return {{"path", file.path}, {"device", file.device}, {"inode", file.inode}};
}

std::string render_json(const RunRecord& record, const ReportOptions&) {
  Json findings = Json::array();
  for (const Finding& finding : record.findings) {
    Json rows = Json::array();
    for (std::uint32_t index : finding.rows)
      if (of_attach(record) && index < record.files.size())
        rows.push_back(file_key(record.files[index]));
      else if (index < record.rows.size())
        rows.push_back(row_key(record.rows[index]));
    Json numbers = Json::object();
    for (const auto& [name, number] : finding.numbers)
      // Counts as integers: a script that compares text would stumble over "3840.0".
      if (std::floor(number) == number && std::abs(number) < 1e15)
        numbers[name] = static_cast<std::int64_t>(number);
      else
        numbers[name] = number;
    findings.push_back({{"id", finding.id},
                        {"severity", finding.severity},
                        {of_attach(record) ? "files" : "rows", rows},
                        {"text", finding.text},
                        {"numbers", numbers},
                        {"remedy", finding.remedy},
                        {"source", finding.source}});
  }
  return findings.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}

extern const ReportFormat json_report;
const ReportFormat json_report{"json", "the findings alone, as a JSON array", render_json, false, ".json"};

}
