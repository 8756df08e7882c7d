// direct-reclaim: before a page can come in, the thread that wants it has to free another. Met in the 2002
// thread on the kernel's list (reading a file larger than memory through a mapping) and wherever a page cache
// runs at the limit of its cgroup, for which no kernel thread frees memory ahead of need.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kShare = 0.01;  // of the reader threads' time

// nullopt: not timed.
std::optional<double> share_of(const Row& row) {
  if (!row.reclaim || !row.reclaim->stall_ns) return std::nullopt;
  const double seconds = thread_seconds(row, row.traced);
  return seconds > 0 ? std::optional(static_cast<double>(row.reclaim->stall_ns->sum()) / 1e9 / seconds)
                     : std::nullopt;
}

bool stalls(const Row& row) {
  return may_be_judged(row) && row.reclaim && row.reclaim->direct_stalls.value_or(0) > 0 &&
         share_of(row).value_or(0) >= kShare;
}

// Where memory ran out, by most of the stalls.
std::string remedy_for(const Reclaim& reclaim) {
  std::string more = "Give the machine more memory";
  if (!reclaim.cgroup_stalls)
    more = "Give the reader more memory (its cgroup's memory.max, or the machine's)";
  else if (2 * *reclaim.cgroup_stalls > *reclaim.direct_stalls)
    more = "Raise the memory limit of its cgroup (memory.max)";
  return more + ", or let fewer pages in: MADV_RANDOM, a smaller readahead, O_DIRECT.";
}

double window_seconds(const Row& row) {
  return thread_seconds(row, row.traced) / row.threads;
}

// One sentence for all rows: what they have in common is their memory.
Finding finding_for(const RunRecord& record, const RowIndexes& rows) {
  auto share = [&](std::uint32_t index) { return *share_of(record.rows[index]); };
  const std::uint32_t worst = *std::ranges::max_element(rows, {}, share);
  const Row& row = record.rows[worst];
  const auto count = static_cast<double>(*row.reclaim->direct_stalls);
  const auto limit = row.cell.memory_limit_bytes;
  // A case that takes memory away is there to show this.
  const bool expected = std::ranges::all_of(
      rows, [&](std::uint32_t index) { return record.rows[index].cell.memory_limit_bytes.has_value(); });
  std::string text = fmt::format("threads stop to free memory before they can read: {} direct reclaims per "
                                 "second, {} each on average, {} "
                                 "of the threads' time ({}{})",
                                 three_digits(count / window_seconds(row)),
                                 human_ns(row.reclaim->stall_ns->mean().value_or(0)), percent(share(worst)),
                                 name_rows_and_cells(record, {worst}),
                                 limit ? ", memory limit " + human_bytes(static_cast<double>(*limit)) : "");
  if (rows.size() > 1) text += fmt::format("; less in {}", counted(rows.size() - 1, "other row"));
  return {.id = "direct-reclaim",
          .severity = expected ? "info" : "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"stalls", count},
                      {"stalls_per_s", count / window_seconds(row)},
                      {"stall_ratio", share(worst)}},
          .remedy = remedy_for(*row.reclaim),
          .source = "linux-kernel 2002 (reference/lkml-2002); mm/vmscan.c, try_to_free_pages"};
}

std::vector<Finding> judge_reclaim(const RunRecord& record) {
  RowIndexes rows;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (stalls(record.rows[index])) rows.push_back(index);
  return rows.empty() ? std::vector<Finding>() : std::vector<Finding>{finding_for(record, rows)};
}

}

extern const FindingRule direct_reclaim;
const FindingRule direct_reclaim{
    "direct-reclaim", "threads have to free memory themselves before they can read: how often, how long",
    judge_reclaim, over_totals<judge_reclaim>};

}
