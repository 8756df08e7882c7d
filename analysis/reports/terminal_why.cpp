#include <algorithm>

#include <fmt/format.h>

#include "analysis/reports/terminal_why_parts.h"
#include "analysis/row_facts.h"

namespace iotrace::terminal {

namespace {

template<typename Holds> bool any_row(const RunRecord& record, Holds holds) {
  return std::ranges::any_of(record.rows,
                             [&](const Row& row) { return !row.error && !row.control && holds(row); });
}

}

std::string why_tables(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t index : in_reading_order(record, group.rows))
    if (!record.rows[index].error && !record.rows[index].control) shown.push_back(index);
  if (shown.empty()) return {};
  WhyRows rows{record, shown, options};

  MissingNumbers missing;
  std::string out = '\n' + note(fmt::format("why: counters of {}{}", counted_over(record, shown),
                                            observer_samples(record, shown)));
  out += bytes_table(rows, missing);
  out += page_table(rows, missing);
  out += fault_table(rows, missing);
  out += lock_table(rows);
  out += call_table(rows);
  out += time_table(rows, missing);
  out += cost_table(rows, missing);

  if (std::ranges::any_of(shown, [&](std::uint32_t index) { return record.rows[index].drifted; }))
    out += note("! drifted: these numbers mix device and cache.");
  for (const std::string& reason : missing.reasons()) out += note("- not available: " + reason);
  return out;
}

std::string why_legend(const RunRecord& record) {
  std::string out = '\n' + note("MB/s: from the median ops/ms; 10^6 bytes. traced/untraced: throughput with "
                                "probes over that without.");
  if (any_row(record, [](const Row& row) { return row.ceiling_ratio.has_value(); }))
    out += note(
        "of ceiling: what the device delivered per second, as a share of the most that it did for O_DIRECT.");
  if (any_row(record, [](const Row& row) { return row.fio.has_value(); }))
    out +=
        note("ours/fio: reads per second of the row over those of fio's job, one run of a second or more.");
  if (any_row(record, [](const Row& row) { return row.expects.hints && row.hints; }))
    out += note(
        "hints: in time, the page was there when it was touched; late, still in flight; needless, there "
        "before "
        "the hint; useless, never touched; cut short, beyond what the kernel reads for one call; held back, "
        "hints that the strategy's own rule suppressed, and those of their pages that were absent. Blank: "
        "none.");
  if (any_row(record, [](const Row& row) { return row.page_cache.has_value(); }))
    out += note(
        "pages brought in by: fault, the faulting page itself; ahead, readahead; hint, madvise and the like; "
        "read, "
        "a system call that reads; other, other processes. wasted: of the pages added, those not used before "
        "they left or the window ended. refaults: pages added again after they had left.");
  out += note(
      "mapped: the page was in the cache; waited: its I/O was already under way; read: by the fault itself. "
      "Their p99 is at most 12.5 % too high. under mmap_lock: of these faults; the others ended under the "
      "VMA lock.");
  if (any_row(record, [](const Row& row) { return row.time.has_value(); }))
    out += note("% of the reader threads' time in the traced repetitions. fault, read: waits inside faults "
                "and reading "
                "calls; lock: waits for mmap_lock; running: the rest, on a processor or ready for one.");
  return out +
         note("op mean, p50, p99: over every op of the repetitions behind ops/ms, at most 0.8 % too high; in "
              "a closed loop "
              "the next op starts when the last is done. user, system: % of the reader threads' time. "
              "minor, major: "
              "as the kernel counts them.");
}

}
