// Stacks of faults that waited, a line each, weighted by nanoseconds: "thread;main;search;[k] weight", as
// Brendan Gregg's flamegraph.pl reads them and speedscope too. Frames of the kernel end in _[k]. Of a run,
// the row stands first. Faults whose stack was dropped are a line of their own, so that the sum is whole.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

// A frame holds neither what ends it nor what ends the line.
std::string frame(std::string_view name) {
  std::string text = printable(name);
  std::ranges::replace(text, ';', ':');
  return text.empty() ? "[unknown]" : text;
}

void add_lines(std::string& text, const std::string& root, const auto& logged) {
  if (!logged.stacks) return;
  for (const FaultStack& stack : *logged.stacks) {
    text += root + frame(stack.thread);
    for (const std::string& name : stack.user) text += ";" + frame(name);
    for (const std::string& name : stack.kernel) text += ";" + frame(name) + "_[k]";
    text += fmt::format(" {}\n", stack.wait_ns);
  }
  if (logged.stacks_dropped && logged.stacks_dropped->wait_ns > 0)
    text += fmt::format("{}[stack dropped] {}\n", root, logged.stacks_dropped->wait_ns);
}

std::string render_folded(const RunRecord& record, const ReportOptions&) {
  std::string text;
  if (record.totals) add_lines(text, "", *record.totals);
  for (const Row& row : record.rows)
    add_lines(text,
              frame(fmt::format("{} {} {} T{:02}", wording::row_name(row), row.case_name, row.pattern,
                                row.threads)) +
                  ";",
              row);
  return text;
}

Status has_stacks(const RunRecord& record) {
  bool found = record.totals && record.totals->stacks;
  for (const Row& row : record.rows) found = found || row.stacks;
  return found ? Status()
               : usage_error("format folded: the record holds no stacks; measure again with --stacks");
}

}

extern const ReportFormat folded_report;
const ReportFormat folded_report{
    "folded", "stacks of waiting faults, for flame graphs", render_folded, false, ".folded", has_stacks};

}
