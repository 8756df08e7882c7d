// events-lost: a probe could not count everything, so that its numbers are too low. Nothing else that is said
// about these rows may be believed before this is gone.

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

struct Losses {
  Count lost = 0, counted = 0;
  RowIndexes rows;
};

// What the probe did count in this row, in its own events.
Count counted_by(std::string_view probe, const Row& row) {
  Count sum = 0;
  if (probe == "faults" && row.faults)
    sum = faults_on_file(*row.faults) + (row.faults->other ? row.faults->other->count : 0);
  if (probe == "page_cache" && row.page_cache)
    sum = row.page_cache->added_pages.value_or(0) + row.page_cache->evicted_pages.value_or(0);
  if (probe == "syscalls" && row.syscalls)
    for (const SyscallCount& calls : *row.syscalls) sum += calls.calls;
  if (probe == "mmap_lock" && row.mmap_lock)
    for (const auto& side : {row.mmap_lock->read, row.mmap_lock->write})
      if (side) sum += side->acquired;
  return sum;
}

std::vector<Finding> judge_losses(const RunRecord& record) {
  std::map<std::string, Losses> by_probe;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    for (const ProbeStatus& probe : record.rows[index].probes) {
      if (probe.lost == 0) continue;
      Losses& losses = by_probe[probe.name];
      losses.lost += probe.lost;
      losses.counted += counted_by(probe.name, record.rows[index]);
      losses.rows.push_back(index);
    }

  std::vector<Finding> findings;
  for (const auto& [probe, losses] : by_probe) {
    // Without a count beside them, "n of n" would say that all was lost.
    std::string of = losses.counted > 0 ? fmt::format(" of {}", losses.lost + losses.counted) : "";
    findings.push_back(
        {.id = "events-lost",
         .severity = "fail",
         .rows = losses.rows,
         .text = fmt::format("probe {} lost {}{} ({}): its numbers there are lower bounds.", probe,
                             counted(losses.lost, "event"), of, name_rows_and_cells(record, losses.rows)),
         .numbers = {{"lost", static_cast<double>(losses.lost)},
                     {"counted", static_cast<double>(losses.counted)}},
         .remedy =
             of_attach(record)
                 ? "Watch fewer processes at once: what is counted by file and by thread has a bound."
                 : fmt::format("Repeat these rows with --probes {} alone, or with fewer threads.", probe),
         .source = "counted by the probe itself"});
  }
  return findings;
}

}

extern const FindingRule events_lost;
const FindingRule events_lost{"events-lost",
                              "a probe could not count everything: its numbers are lower bounds",
                              judge_losses, over_totals<judge_losses>};

}
