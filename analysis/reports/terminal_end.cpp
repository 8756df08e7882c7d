#include <algorithm>
#include <map>
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

std::string probe_lines(const RunRecord& record, const ReportOptions& options) {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> probes;  // variants, reasons
  std::string losses;
  Count unmatched = 0;
  std::set<std::string> unmatched_in;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    for (const ProbeStatus& probe : row.probes) {
      auto& [variants, reasons] = probes[probe.name];
      if (probe.variant)
        variants.insert(printable(*probe.variant));
      else
        reasons.insert(printable(probe.reason.value_or("no reason recorded")));
      if (probe.lost > 0)
        losses += note(fmt::format("LOST  {} of probe {} in {} {}: its numbers there are too low.",
                                   counted(probe.lost, "event"), probe.name, printable(row.case_name),
                                   name_rows(record, {index})),
                       kFindingIndent);
      if (probe.unmatched == 0) continue;
      unmatched += probe.unmatched;
      unmatched_in.insert(probe.name);
    }
  }
  if (probes.empty()) return {};

  std::vector<std::string> parts;
  for (const auto& [name, use] : probes) {
    const auto& [variants, reasons] = use;
    if (!variants.empty()) parts.push_back(fmt::format("{} ({})", name, fmt::join(variants, " or ")));
    if (!reasons.empty()) parts.push_back(fmt::format("{} not attached: {}", name, fmt::join(reasons, "; ")));
  }
  std::string out = '\n' + note(fmt::format("probes: {}", fmt::join(parts, ", ")));
  if (unmatched > 0)
    out += note(fmt::format("{} without a start, under way when the window opened, not counted: {}",
                            counted(unmatched, "end"), fmt::join(unmatched_in, ", ")));
  return out + styled(losses, losses.empty() ? Style::kPlain : Style::kCaution, options.colour);
}

std::string findings_list(const RunRecord& record, const ReportOptions& options) {
  if (record.findings.empty()) return "No findings.\n";
  std::string out;
  for (std::size_t i = 0; i < std::min(kFindingsShown, record.findings.size()); ++i)
    out += finding_lines(record.findings[i], options);
  if (record.findings.size() > kFindingsShown)
    out += fmt::format("{} more: iotrace report --format json\n", record.findings.size() - kFindingsShown);
  return out;
}

}
