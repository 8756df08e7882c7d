// Where the threads' time went, row by row.

#include <array>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/detail_tables.h"
#include "analysis/reports/html_parts.h"
#include "analysis/row_facts.h"

namespace iotrace::page {

namespace {

struct Part {
  const char* name;
  std::size_t style;
  std::optional<double> TimeSplit::*seconds;
};
// Colours far apart for what is mostly side by side.
constexpr std::array<Part, 5> kParts{{{"running", 2, &TimeSplit::running_s},
                                      {"fault wait", 1, &TimeSplit::fault_wait_s},
                                      {"read wait", 0, &TimeSplit::read_wait_s},
                                      {"lock wait", 7, &TimeSplit::lock_wait_s},
                                      {"idle", 6, &TimeSplit::idle_s}}};

}

std::vector<Json> time_blocks(const RunRecord& record, const RowGroup& group) {
  // Idle is of the open loop alone.
  const std::size_t used = open_loop(record.rows[group.rows.front()]) ? kParts.size() : kParts.size() - 1;
  std::vector<std::pair<std::string, std::size_t>> parts;
  std::vector<std::string> columns{"strategy", "threads"};
  for (std::size_t i = 0; i < used; ++i) {
    parts.emplace_back(kParts[i].name, kParts[i].style);
    columns.emplace_back(kParts[i].name);
  }
  Bars bars("% of the threads' time", parts);
  Json shares = table("", 2, std::move(columns));
  for (std::uint32_t index : wording::rows_in_detail(record, group)) {
    const Row& row = record.rows[index];
    const double whole = time_total(row);
    if (!row.time || whole <= 0) continue;
    bars.start_line(row_label(row));
    std::vector<std::string> cells{wording::row_name(row),
                                   threads_name(row.threads) + (row.drifted ? " (drifted)" : "")};
    for (std::size_t i = 0; i < used; ++i) {
      const std::optional<double> seconds = (*row.time).*kParts[i].seconds;
      const std::string text = seconds ? percent(*seconds / whole) : std::string(kNotAvailable);
      bars.add(seconds ? Json(100 * *seconds / whole) : Json(nullptr), text);
      cells.push_back(text);
    }
    add_line(shares, std::move(cells));
  }
  if (bars.empty()) return {};
  return {block("Where the threads' time went",
                "running: on a processor, ready for one, or waiting where no probe looks",
                std::move(bars).plot(), {std::move(shares)})};
}

}
