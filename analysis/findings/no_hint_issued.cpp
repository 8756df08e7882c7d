// no-hint-issued: a strategy that is there to hint never does. Met in Lucene PR 16656: native access was not
// enabled, so the program silently ran without its madvise calls while its users believed otherwise.

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

bool calls_were_lost(const Row& row) {
  for (const ProbeStatus& probe : row.probes)
    if (probe.name == "syscalls" && (probe.lost > 0 || !probe.variant)) return true;
  return false;
}

constexpr const char* kRemedy = "Check that the code that hints is reached and allowed to call the system.";
constexpr const char* kSource = "Lucene PR 16656";

std::string never_text(std::string_view who, std::string_view in_what) {
  return fmt::format(
      "{} never hints: no madvise(WILLNEED), fadvise, readahead or process_madvise call in {}.", who,
      in_what);
}

bool made_no_call_that_hints(const Row& row) {
  auto hints = hint_calls_of_any_kind(row);
  if (!hints || *hints > 0 || calls_were_lost(row)) return false;
  // A back-off may let none of a window's hints pass: it was there, and said no.
  if (row.hints && row.hints->suppressed.value_or(0) > 0) return false;
  // mincore: it asked first, and the pages were there. io_uring: hints inside the ring are no calls.
  return *calls_of(row, "mincore") == 0 && *calls_of(row, "io_uring_enter") == 0;
}

bool never_hints(const Row& row) {
  return !row.error && !row.control && row.expects.hints && traced_reads(row) > 0 &&
         made_no_call_that_hints(row);
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  double reads = 0;
  for (std::uint32_t index : rows) reads += traced_reads(record.rows[index]);
  return {.id = "no-hint-issued",
          .severity = "fail",
          .rows = rows,
          .text = never_text(strategy, fmt::format("{:.0f} reads ({})", reads, name_cells(record, rows))),
          .numbers = {{"hints", 0}, {"reads", reads}},
          .remedy = kRemedy,
          .source = kSource};
}

std::vector<Finding> judge_hints(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, never_hints))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

// attach: only where the user says that there should be hints, and faults show that they were wanted.
std::vector<Finding> judge_attached_hints(const RunRecord& record) {
  if (!record.target || !record.target->expect_hints) return {};
  const RunRecord totals = totals_as_row(record);
  if (totals.rows.empty() || !made_no_call_that_hints(totals.rows[0])) return {};
  const FileIndexes waiting =
      files_that(record, [](const AttachedFile& file) { return waiting_faults(file).value_or(0) > 0; });
  if (waiting.empty()) return {};
  Count faults = 0;
  for (std::uint32_t index : waiting) faults += *waiting_faults(record.files[index]);
  return {
      {.id = "no-hint-issued",
       .severity = "fail",
       .rows = waiting,
       .text = never_text(target_name(record),
                          fmt::format("{}, in which {} on {} waited", human_ns(1e9 * record.target->seconds),
                                      counted(faults, "fault"), name_files(record, waiting))),
       .numbers = {{"hints", 0}, {"waiting_faults", static_cast<double>(faults)}},
       .remedy = kRemedy,
       .source = kSource}};
}

}

extern const FindingRule no_hint_issued;
const FindingRule no_hint_issued{"no-hint-issued", "a strategy that is there to hint made no call that hints",
                                 judge_hints, judge_attached_hints};

}
