// swap-in: while it reads a file, the process waits for its own memory to come back from swap. The file's
// pages pushed the heap out, and the next garbage collection or hash look-up reads that from the disk as
// well.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr Count kPages = 16;  // fewer: what a fresh process touches again once

bool swaps(const Row& row) {
  return may_be_judged(row) && row.reclaim && row.reclaim->swap_in_pages.value_or(0) >= kPages;
}

// One sentence for all rows: what they have in common is their memory.
Finding finding_for(const RunRecord& record, const RowIndexes& rows) {
  auto pages = [&](std::uint32_t index) {
    return static_cast<double>(*record.rows[index].reclaim->swap_in_pages);
  };
  const std::uint32_t worst = *std::ranges::max_element(rows, {}, pages);
  const Row& row = record.rows[worst];
  const double seconds = thread_seconds(row, row.traced) / row.threads;
  std::string text = fmt::format(
      "the reader's own memory is swapped: {:.0f} pages came back from swap while it "
      "read{} ({})",
      pages(worst), seconds > 0 ? fmt::format(", {} per second", three_digits(pages(worst) / seconds)) : "",
      name_rows_and_cells(record, {worst}));
  if (rows.size() > 1) text += fmt::format("; fewer in {}", counted(rows.size() - 1, "other row"));
  return {.id = "swap-in",
          .severity = "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"swap_in_pages", pages(worst)}},
          .remedy = "Keep it out of swap: mlock what is needed, memory.swap.max=0 for its cgroup, or a lower "
                    "vm.swappiness.",
          .source = "kernel Documentation, admin-guide/cgroup-v2, memory.swap.max; sysctl/vm, swappiness"};
}

std::vector<Finding> judge_swap(const RunRecord& record) {
  if (record.host.swap_bytes == 0) return {};
  RowIndexes rows;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (swaps(record.rows[index])) rows.push_back(index);
  return rows.empty() ? std::vector<Finding>() : std::vector<Finding>{finding_for(record, rows)};
}

}

extern const FindingRule swap_in;
const FindingRule swap_in{"swap-in", "while it reads, the process waits for its own memory to come from swap",
                          judge_swap, over_totals<judge_swap>};

}
