#include <fmt/format.h>

#include "analysis/reports/terminal_parts.h"
#include "analysis/text.h"

namespace iotrace::terminal {

namespace {

constexpr std::size_t kLabelWidth = 6;  // "host  "

std::string fact_line(std::string_view label, const std::vector<std::string>& facts) {
  return note(fmt::format("{:<{}}{}", label, kLabelWidth, fmt::join(facts, ", ")), kLabelWidth);
}

}

std::string head(const RunRecord& record, const ReportOptions& options) {
  std::string title = fmt::format("iotrace {} {}, {}, seed {}", printable(record.iotrace),
                                  printable(record.command), printable(record.started), record.seed);
  std::string out = styled(title, Style::kHeading, options.colour) + '\n';
  if (record.partial)
    out += styled("PARTIAL: the run was interrupted; this is what it had measured by then.", Style::kCaution,
                  options.colour) +
           '\n';
  if (std::string emulated = emulation_note(record.host); !emulated.empty())
    out += styled(emulated, Style::kCaution, options.colour) + '\n';
  out += fact_line("host", host_facts(record.host)) + fact_line("file", file_facts(record.file)) +
         fact_line("plan", plan_facts(record.options));
  auto ceiling = ceiling_facts(record);
  if (ceiling.empty()) return out;
  ceiling.front() = "the device past the cache (O_DIRECT, io_uring): " + ceiling.front();
  return out + fact_line("limit", ceiling);
}

std::string group_heading(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  return styled(wrap(group_title(record, group), kTerminalWidth, 2), Style::kHeading, options.colour) + '\n' +
         note(residency_words(record, group));
}

}
