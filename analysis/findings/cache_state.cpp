// cache-state: rows whose cache was not what their case says, at the start or by the end. Met in rocksdb PR
// 10142 and io500 issue 109: "cold" numbers that came from the cache. Such rows have no rank here; this says
// why, and how to get one.

#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// The controller's words for a state that was not there, and what to do about it.
struct NotInState {
  std::string_view words, remedy;
};
constexpr std::array kNotInState{
    NotInState{"stays resident after eviction",
               "End what maps, locks or reads the file (fuser -v), or leave out --file for a scratch file."},
    NotInState{"resident after reading it in", "Choose a smaller --size, or free memory."},
    NotInState{"did not last", "Free memory, or choose a smaller --size."},
    NotInState{"was not reached", "End what unmaps the file's pages or needs the memory beside the run."}};

const NotInState* not_in_state(const Row& row) {
  if (!row.error) return nullptr;
  for (const NotInState& state : kNotInState)
    if (row.error->find(state.words) != std::string::npos) return &state;
  return nullptr;
}

Finding finding_of(const RunRecord& record, const RowIndexes& rows, std::string text, std::string remedy) {
  return {.id = "cache-state",
          .severity = "warn",
          .rows = rows,
          .text = std::move(text),
          .numbers = {{"rows", static_cast<double>(rows.size())},
                      {"of_rows", static_cast<double>(record.rows.size())}},
          .remedy = std::move(remedy),
          .source = "rocksdb PR 10142; io500 issue 109"};
}

void add_unreached(const RunRecord& record, std::vector<Finding>& findings) {
  std::map<const NotInState*, RowIndexes> by_state;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (const NotInState* state = not_in_state(record.rows[index])) by_state[state].push_back(index);
  for (const NotInState& state : kNotInState) {
    auto rows = by_state.find(&state);
    if (rows == by_state.end()) continue;
    findings.push_back(finding_of(
        record, rows->second,
        fmt::format("no numbers for {}, {}: {}.", counted(rows->second.size(), "row"),
                    name_rows_and_cells(record, rows->second), *record.rows[rows->second.front()].error),
        std::string(state.remedy)));
  }
}

void add_drifted(const RunRecord& record, std::vector<Finding>& findings) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  RowIndexes rows;
  double size = 0, residency = 0;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    if (row.error || !row.drifted) continue;
    rows.push_back(index);
    size = std::max(size, size_that_stays_cold(record, row).value_or(0));
    for (const auto& measurement : {row.untraced, row.traced})
      if (measurement)
        for (const Repetition& rep : measurement->reps)
          residency = std::max(residency, rep.residency_after_ratio.value_or(0));
  }
  if (rows.empty()) return;
  std::string larger = record.file.scratch ? "a larger --size" : "a larger file";
  if (size > 0)
    larger = record.file.scratch
                 ? fmt::format("--size {:.0f}G or more (an estimate)", std::ceil(size / kGiB))
                 : fmt::format("a file of {:.0f} GiB or more (an estimate)", std::ceil(size / kGiB));
  findings.push_back(finding_of(
      record, rows,
      fmt::format("the file warmed up under {}, {} (up to {} of it in the cache afterwards): device and "
                  "cache are mixed there, and no rank is given.",
                  counted(rows.size(), "row"), name_rows_and_cells(record, rows), percent(residency)),
      fmt::format("Use {}, or a shorter --duration.", larger)));
}

std::vector<Finding> judge_state(const RunRecord& record) {
  std::vector<Finding> findings;
  add_unreached(record, findings);
  add_drifted(record, findings);
  return findings;
}

}

extern const FindingRule cache_state;
const FindingRule cache_state{
    "cache-state", "rows whose cache was not what their case says, or did not stay so", judge_state};

}
