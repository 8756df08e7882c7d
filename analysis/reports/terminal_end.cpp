#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/text.h"

namespace iotrace::terminal {

namespace {

constexpr std::size_t kFindingsShown = 5;
constexpr std::size_t kFindingIndent = 6;  // "FAIL  "

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string finding_lines(const Finding& finding, const ReportOptions& options) {
  std::string severity = upper(finding.severity);
  std::string text = fmt::format("{:<{}}{} {} [{}]", severity, kFindingIndent, printable(finding.text),
                                 printable(finding.remedy), finding.id);
  std::string lines = note(text, kFindingIndent);
  Style style = finding.severity == "fail"   ? Style::kBad
                : finding.severity == "warn" ? Style::kCaution
                                             : Style::kHeading;
  return styled(severity, style, options.colour) + lines.substr(severity.size());
}

}

std::string probe_lines(const RunRecord& record) {
  auto facts = probe_facts(record);
  if (facts.empty()) return {};
  Count unmatched = 0;
  std::set<std::string> unmatched_in;
  for (const Row& row : record.rows)
    for (const ProbeStatus& probe : row.probes) {
      unmatched += probe.unmatched;
      if (probe.unmatched > 0) unmatched_in.insert(printable(probe.name));
    }
  std::string out = '\n' + note(fmt::format("probes: {}", fmt::join(facts, ", ")));
  if (auto cost = dear_pass_words(record); !cost.empty()) out += note(cost);
  if (unmatched > 0)
    out += note(fmt::format("{} without a start (under way when the window opened, or answered by a seccomp "
                            "filter), not counted: {}",
                            counted(unmatched, "end"), fmt::join(unmatched_in, ", ")));
  return out;
}

std::string findings_list(const RunRecord& record, const ReportOptions& options) {
  if (record.findings.empty()) return "No findings.\n";
  std::string out;
  for (std::size_t i = 0; i < std::min(kFindingsShown, record.findings.size()); ++i)
    out += finding_lines(record.findings[i], options);
  if (record.findings.size() > kFindingsShown)
    out +=
        note(fmt::format("{} more: iotrace report RECORD --format json (RECORD: the file that {} -o wrote)",
                         record.findings.size() - kFindingsShown, printable(record.command)));
  return out;
}

}
