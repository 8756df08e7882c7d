// Faults under which lock, how much each mapped, how many threads were in one at once; and the longest of
// them (scenario S14).

#include <algorithm>

#include <fmt/format.h>

#include "analysis/reports/detail_tables.h"
#include "analysis/reports/row_table.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

constexpr std::size_t kLongestShown = 5;  // of each row

std::string pages_each(const Faults& faults, Count pages) {
  const Count all = faults_on_file(faults);
  return all > 0 ? three_digits(static_cast<double>(pages) / static_cast<double>(all)) : "";
}

}

std::optional<ResponseTable> fault_details(const RunRecord& record, const Shown& shown) {
  RowTable table(
      "faults on the file's pages: under which lock, passes beside the first, pages that each mapped, "
      "threads in one that waits",
      {"VMA lock\n/op", "mmap_lock\n/op", "retried\n/op", "pages\nmapped", "looked at\np50", "blocked,\nmean",
       "most"});
  for (std::uint32_t index : shown) {
    const Row& row = record.rows[index];
    if (!row.faults || faults_on_file(*row.faults) == 0) continue;
    const Faults& faults = *row.faults;
    table.start_row(row);
    table.add_per_op(faults.under_vma_lock, "faults.under_vma_lock");
    table.add_per_op(faults.under_mmap_lock, "faults.under_mmap_lock");
    table.add_per_op(faults.retried, "faults.retried");
    table.add_known(faults.mapped_pages, "faults.mapped_pages",
                    [&](Count pages) { return pages_each(faults, pages); });
    table.add_known(faults.around_pages, "faults.around_pages",
                    [](const Histogram& pages) { return quantile_text(pages, 0.5); });
    table.add_known(faults.blocked_threads_avg, "faults.blocked_threads_avg", three_digits);
    table.add_known(faults.blocked_threads_max, "faults.blocked_threads_max", count_text);
  }
  return std::move(table).finish();
}

std::optional<ResponseTable> longest_faults(const RunRecord& record, const Shown& shown) {
  RowTable table(fmt::format("the longest faults, up to {} a row", kLongestShown),
                 {"took", "what it did", "offset in\nthe file", "thread"});
  for (std::uint32_t index : shown) {
    const Row& row = record.rows[index];
    if (!row.faults || !row.faults->longest) continue;
    const std::vector<LongFault>& longest = *row.faults->longest;
    for (std::size_t i = 0; i < std::min(kLongestShown, longest.size()); ++i) {
      const LongFault& fault = longest[i];
      table.start_row(row);
      table.add(human_ns(static_cast<double>(fault.latency_ns)));
      table.add(printable(fault.kind));
      table.add(fault.offset_bytes ? std::to_string(*fault.offset_bytes) : "outside");
      table.add(std::to_string(fault.tid));
    }
  }
  return std::move(table).finish();
}

}
