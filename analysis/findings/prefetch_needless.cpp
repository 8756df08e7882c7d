// prefetch-needless: hints, or looks by mincore before them, on pages that are there already. Met in Lucene
// PR 16145 and issue 15571, where mincore stood high in the profiles of searches over cached indexes. It is
// worth a word only where the calls take time.

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kNeedless = 0.5;  // of the hinted pages, or of the looks
constexpr double kCost = 0.02;     // of the threads' time; less is within the noise of most machines
constexpr double kDear = 0.1;

// Calls that hint, and the one that asks first.
constexpr std::array<std::string_view, 5> kCalls{"madvise", "process_madvise", "fadvise64", "readahead",
                                                 "mincore"};

struct Cost {
  double calls = 0, seconds = 0;
};

// nullopt: not timed.
std::optional<Cost> cost_of(const Row& row) {
  if (!row.syscalls) return std::nullopt;
  Cost cost;
  for (const SyscallCount& count : *row.syscalls) {
    if (std::ranges::find(kCalls, count.name) == kCalls.end()) continue;
    cost.calls += static_cast<double>(count.calls);
    if (count.lat_ns) cost.seconds += static_cast<double>(count.lat_ns->sum()) / 1e9;
  }
  return cost;
}

struct Needless {
  double part = 0, whole = 0;  // pages; looks where no hint followed from most of them
  bool looks = false;

  double share() const { return whole > 0 ? part / whole : 0; }
};

std::optional<Needless> needless_pages(const Row& row) {
  if (!row.hints) return std::nullopt;
  const Hints& hints = *row.hints;
  Needless found;
  for (const auto& pages :
       {hints.needless_pages, hints.in_time_pages, hints.late_pages, hints.useless_pages}) {
    if (!pages) return std::nullopt;
    found.whole += static_cast<double>(*pages);
  }
  found.part = static_cast<double>(*hints.needless_pages);
  return found;
}

// Looks after which nothing had to be hinted.
std::optional<Needless> needless_looks(const Row& row) {
  const auto looks = calls_of(row, "mincore");
  const auto hints = hint_calls_of_any_kind(row);
  if (!looks || !hints) return std::nullopt;
  const auto whole = static_cast<double>(*looks);
  return Needless{std::max(0.0, whole - static_cast<double>(*hints)), whole, true};
}

// nullopt: neither is needless for the most part, or it can't be told.
std::optional<Needless> needless(const Row& row) {
  for (const auto& found : {needless_pages(row), needless_looks(row)})
    if (found && found->share() >= kNeedless) return found;
  return std::nullopt;
}

// Of the threads' time; calls are counted in the traced repetitions, whatever else has a pass of its own.
double cost_share(const Row& row) {
  const auto cost = cost_of(row);
  const double seconds = thread_seconds(row, row.traced);
  return cost && seconds > 0 ? cost->seconds / seconds : 0;
}

bool hints_for_nothing(const Row& row) {
  return may_be_judged(row) && cost_share(row) >= kCost && needless(row);
}

std::string calls_text(const Row& row) {
  std::string names;
  for (std::string_view name : kCalls)
    if (calls_of(row, name).value_or(0) > 0) names += (names.empty() ? "" : " and ") + std::string(name);
  return names;
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  const std::uint32_t worst = *std::ranges::max_element(
      rows, {}, [&](std::uint32_t index) { return cost_share(record.rows[index]); });
  const Row& row = record.rows[worst];
  const Needless found = *needless(row);
  const Cost cost = *cost_of(row);
  const bool asks = calls_of(row, "mincore").value_or(0) > 0;
  std::string text = fmt::format(
      "{} is needless in {}: of {:.0f} {}, {} ({}); {} took {} of its threads' time, {} a call",
      found.looks ? "asking before a hint" : "prefetch", strategy, found.whole,
      found.looks ? "looks by mincore" : "hinted pages",
      percent(found.share()) + (found.looks ? " found the pages resident" : " were resident already"),
      name_cells(record, {worst}), calls_text(row), percent(cost_share(row)),
      human_ns(cost.calls > 0 ? 1e9 * cost.seconds / cost.calls : 0));
  if (row.expects.differs_from)
    if (auto faster = proven_faster(record, *row.expects.differs_from, {worst}))
      text += fmt::format("; {}, which does neither, is {} times as fast there", faster->strategy,
                          three_digits(faster->most));
  if (rows.size() > 1) text += fmt::format("; less in {}", counted(rows.size() - 1, "other row"));
  return {
      .id = "prefetch-needless",
      .severity = cost_share(row) >= kDear ? "warn" : "info",
      .rows = rows,
      .text = text + ".",
      .numbers = {{found.looks ? "needless_looks" : "needless_pages", found.part},
                  {"needless_ratio", found.share()},
                  {"calls", cost.calls},
                  {"cost_ratio", cost_share(row)}},
      .remedy =
          asks ? "Look less often while the file is resident: a back-off that a miss ends."
               : "Back off while the file is resident; asking mincore before each hint costs a call as well.",
      .source = "Lucene PR 16145, issue 15571"};
}

std::vector<Finding> judge_hints(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, hints_for_nothing))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

}

extern const FindingRule prefetch_needless;
const FindingRule prefetch_needless{
    "prefetch-needless", "hints, or looks before them, go to pages that are there already, and cost time",
    judge_hints};

}
