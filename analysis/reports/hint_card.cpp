// A hint's report card (design section 5).

#include "analysis/reports/detail_tables.h"
#include "analysis/reports/row_table.h"
#include "analysis/row_facts.h"

namespace iotrace::wording {

namespace {

bool gave_hints(const Row& row) {
  const Hints hints = row.hints.value_or(Hints{});
  const auto calls = willneed_calls(row);
  return row.expects.hints || hints.issued.value_or(0) > 0 || hints.suppressed.value_or(0) > 0 ||
         (calls && calls->issued > 0);
}

// Their fate, or that a rule of the strategy's own withheld some.
bool something_known(const Row& row) {
  if (!row.hints) return false;
  const Hints& hints = *row.hints;
  return hints.in_time_pages || hints.late_pages || hints.needless_pages || hints.useless_pages ||
         hints.truncated_pages || hints.suppressed.value_or(0) > 0;
}

void add_row(RowTable& table, const Row& row) {
  const Hints& hints = *row.hints;
  table.start_row(row);
  table.add_known(hints.rejected, "hints.rejected", [&](Count rejected) {
    const auto issued = static_cast<double>(hints.issued.value_or(0));
    return rejected > 0 && issued > 0 ? percent(static_cast<double>(rejected) / issued) : "";
  });
  table.add_per_op(hints.suppressed, "hints.suppressed");
  if (hints.suppressed.value_or(0) > 0)
    table.add_per_op(hints.suppressed_absent_pages, "hints.suppressed_absent_pages");
  else
    table.add("");
  table.add_per_op(hints.in_time_pages, "hints.in_time_pages");
  table.add_per_op(hints.late_pages, "hints.late_pages");
  table.add_per_op(hints.needless_pages, "hints.needless_pages");
  table.add_per_op(hints.useless_pages, "hints.useless_pages");
  table.add_per_op(hints.truncated_pages, "hints.truncated_pages");
}

}

std::optional<ResponseTable> hint_card(const RunRecord& record, const RowGroup& group) {
  RowTable table("what became of the hints: calls, then pages per op",
                 {"rejected", "held\nback /op", "pages\nabsent", "in\ntime", "late", "needless", "useless",
                  "cut\nshort"});
  std::vector<std::uint32_t> unknown;
  for (std::uint32_t index : rows_in_detail(record, group)) {
    const Row& row = record.rows[index];
    if (!gave_hints(row)) continue;
    if (something_known(row))
      add_row(table, row);
    else
      unknown.push_back(index);
  }
  if (!unknown.empty())
    table.add_sentence("not known: " + name_rows(record, unknown) + ": " +
                       reason_missing(record.rows[unknown.front()], "hints.in_time_pages"));
  return std::move(table).finish();
}

}
