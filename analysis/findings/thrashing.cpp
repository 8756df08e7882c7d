// thrashing: the working set no longer fits into memory, and pages that had been cached are read again. In a
// memory sweep it names the cliff; else it sets a row under a limit beside the warm row of the same reads.
//
// The cases it looks at begin with the whole file read once, so whatever comes into the cache in the window
// had been there before: every page added is a refault.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/memory_sweep.h"
#include "analysis/row_facts.h"
#include "analysis/statistics.h"

namespace iotrace {

namespace {

constexpr double kFall = 2;          // times slower: less is a slope, and no cliff
constexpr double kRefaults = 1;      // pages read again per op: below it, most ops never wait
constexpr double kMoreRefaults = 2;  // times those of the step before
// attach: of the pages that came in, those that had left meanwhile; fewer of them are the edge of the set.
constexpr double kCameBack = 0.2;
constexpr Count kPages = 1000;  // fewer cost nothing

constexpr const char* kRemedy =
    "Give the reader that much memory, make the working set smaller, or read less around each request "
    "(MADV_RANDOM), so that the cache keeps what is used.";
constexpr const char* kSource =
    "Denning 1968, The working set model for program behavior; kernel memory.stat "
    "workingset_refault_file";

bool read_once_before(const Row& row) {
  return row.case_name == "pressure" || row.case_name == "half-cold";
}

// What one row shows of it.
struct Evidence {
  double ops_per_ms = 0, refaults_per_op = 0;
};

// nullopt: refaults or the device's bytes were not counted.
std::optional<Evidence> evidence(const Row& row) {
  if (!may_be_judged(row) || !row.page_cache || !row.page_cache->added_pages || !row.device_bytes)
    return std::nullopt;
  const double ops = ops_of(row.traced);
  const auto speed = median(throughputs(row));
  if (ops <= 0 || !speed || *speed <= 0) return std::nullopt;
  return Evidence{*speed, static_cast<double>(*row.page_cache->added_pages) / ops};
}

std::string size(std::uint64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

struct Step {
  std::uint32_t row = 0;
  double of_file = 0;
  Evidence seen;
};

// Those steps of a sweep that show something.
std::vector<Step> seen_in(const RunRecord& record, const MemorySweep& sweep) {
  std::vector<Step> steps;
  for (std::uint32_t index : sweep)
    if (auto seen = evidence(record.rows[index]))
      steps.push_back({index, *record.rows[index].cell.memory_of_file_ratio, *seen});
  return steps;
}

bool is_cliff(const Evidence& before, const Evidence& after) {
  return before.ops_per_ms >= kFall * after.ops_per_ms && after.refaults_per_op >= kRefaults &&
         after.refaults_per_op >= kMoreRefaults * before.refaults_per_op;
}

// The steepest fall from a step to the next; nullopt: there is none.
std::optional<std::pair<Step, Step>> cliff_of(const std::vector<Step>& steps) {
  std::optional<std::pair<Step, Step>> steepest;
  auto fall = [](const Step& from, const Step& to) { return from.seen.ops_per_ms / to.seen.ops_per_ms; };
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (is_cliff(steps[i - 1].seen, steps[i].seen) &&
        (!steepest || fall(steps[i - 1], steps[i]) > fall(steepest->first, steepest->second)))
      steepest = {steps[i - 1], steps[i]};
  return steepest;
}

Finding at_the_cliff(const RunRecord& record, const Step& above, const Step& below) {
  const Row& row = record.rows[above.row];
  const double ratio = above.seen.ops_per_ms / below.seen.ops_per_ms;
  return {.id = "thrashing",
          .severity = "warn",
          .rows = {above.row, below.row},
          .text = fmt::format("the working set of {} no longer fits below {} ({} of the file): at {} ops/ms "
                              "have fallen {} times, "
                              "and pages read again have risen from {} to {} per op ({}).",
                              row.strategy, size(row.cell.memory_limit_bytes.value_or(0)),
                              percent(above.of_file), percent(below.of_file), three_digits(ratio),
                              three_digits(above.seen.refaults_per_op),
                              three_digits(below.seen.refaults_per_op), name_cells(record, {above.row})),
          .numbers = {{"above_ratio", above.of_file},
                      {"below_ratio", below.of_file},
                      {"fall_ratio", ratio},
                      {"refaults_per_op_above", above.seen.refaults_per_op},
                      {"refaults_per_op_below", below.seen.refaults_per_op}},
          .remedy = kRemedy,
          .source = kSource};
}

const Row* warm_beside(const RunRecord& record, const Row& row) {
  auto warm = std::ranges::find_if(record.rows, [&](const Row& other) {
    return other.case_name == "warm" && may_be_judged(other) && same_reads(row, other);
  });
  return warm == record.rows.end() ? nullptr : &*warm;
}

// How many times slower than warm the row is, where that comes of pages read again.
std::optional<double> slowdown(const RunRecord& record, const Row& row) {
  if (!read_once_before(row) || row.cell.memory_of_file_ratio) return std::nullopt;
  const auto seen = evidence(row);
  if (!seen || *row.device_bytes == 0 || seen->refaults_per_op < kRefaults) return std::nullopt;
  const Row* warm = warm_beside(record, row);
  const auto warm_speed = warm ? median(throughputs(*warm)) : std::nullopt;
  return warm_speed && *warm_speed >= kFall * seen->ops_per_ms ? std::optional(*warm_speed / seen->ops_per_ms)
                                                               : std::nullopt;
}

// One sentence for all rows outside of sweeps: what they have in common is their memory.
std::optional<Finding> beside_warm(const RunRecord& record) {
  RowIndexes rows;
  std::vector<double> slower, refaults;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (auto times = slowdown(record, record.rows[index])) {
      rows.push_back(index);
      slower.push_back(*times);
      refaults.push_back(evidence(record.rows[index])->refaults_per_op);
    }
  if (rows.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(slower);
  const auto [fewest, many] = std::ranges::minmax(refaults);
  return Finding{
      .id = "thrashing",
      .severity = "warn",
      .rows = rows,
      .text = fmt::format("the working set does not fit into memory: {} read pages again that had been "
                          "cached, {} per op, and came out {} times slower than warm ({}).",
                          counted(rows.size(), "row"), range_text(fewest, many, three_digits),
                          range_text(least, most, three_digits), name_cells(record, rows)),
      .numbers = {{"rows", static_cast<double>(rows.size())},
                  {"fall_ratio_least", least},
                  {"fall_ratio_most", most},
                  {"refaults_per_op_least", fewest},
                  {"refaults_per_op_most", many}},
      .remedy = kRemedy,
      .source = kSource};
}

std::vector<Finding> judge_thrashing(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const MemorySweep& sweep : memory_sweeps(record))
    if (auto cliff = cliff_of(seen_in(record, sweep)))
      findings.push_back(at_the_cliff(record, cliff->first, cliff->second));
  if (auto finding = beside_warm(record)) findings.push_back(std::move(*finding));
  return findings;
}

// ---- attach: pages that left while it watched, and came back ----

bool comes_back(const AttachedFile& file) {
  if (!file.page_cache || !file.page_cache->added_pages || !file.page_cache->refault_pages) return false;
  const Count again = *file.page_cache->refault_pages;
  return again >= kPages &&
         static_cast<double>(again) >= kCameBack * static_cast<double>(*file.page_cache->added_pages);
}

// One sentence for all files: what they have in common is their memory.
std::vector<Finding> judge_attached_thrashing(const RunRecord& record) {
  const FileIndexes files = files_that(record, comes_back);
  if (files.empty() || !record.target) return {};
  double added = 0, again = 0;
  for (std::uint32_t index : files) {
    added += static_cast<double>(*record.files[index].page_cache->added_pages);
    again += static_cast<double>(*record.files[index].page_cache->refault_pages);
  }
  const double per_second = record.target->seconds > 0 ? again / record.target->seconds : 0;
  return {{.id = "thrashing",
           .severity = "warn",
           .rows = files,
           .text = fmt::format(
               "the working set does not fit into memory: of {:.0f} pages of {} that came into "
               "the cache, {} had left it while it was watched ({} per second).",
               added, name_files(record, files), percent(again / added), three_digits(per_second)),
           .numbers = {{"added_pages", added},
                       {"refault_pages", again},
                       {"refault_ratio", again / added},
                       {"refaults_per_s", per_second}},
           .remedy = kRemedy,
           .source = kSource}};
}

}

extern const FindingRule thrashing;
const FindingRule thrashing{"thrashing", "the working set does not fit into memory; pages are read again",
                            judge_thrashing, judge_attached_thrashing};

}
