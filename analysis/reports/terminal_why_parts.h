#pragma once
// The why tables of the terminal report, each in a file of its own: one line per strategy and thread count. A
// blank cell: there was nothing to count. A "-": not available, with the reason below.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/format.h"
#include "analysis/reports/missing_numbers.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/table.h"

namespace iotrace::terminal {

// The tables share their two label columns; fill one line at a time.
class WhyTable {
public:
  explicit WhyTable(std::vector<TableColumn> columns) : table_(labelled(std::move(columns)), 2) {}

  void start_row(const Row& row) {
    finish_row();
    // A name stands on the first of its lines only.
    std::string name = row_name(row);
    cells_ = {TableCell(name == last_name_ ? "" : name),
              TableCell(threads_name(row.threads) + (row.drifted ? "!" : ""),
                        row.drifted ? Style::kCaution : Style::kPlain)};
    last_name_ = name;
  }
  void add(std::string text) { cells_.emplace_back(std::move(text)); }

  bool empty() const { return table_.empty() && cells_.empty(); }

  std::string render(const ReportOptions& options) {
    finish_row();
    return table_.render(kTerminalWidth, options.colour);
  }

private:
  static std::vector<TableColumn> labelled(std::vector<TableColumn> columns) {
    columns.insert(columns.begin(), {{"strategy", false}, {"", false}});
    return columns;
  }
  void finish_row() {
    if (!cells_.empty()) table_.add_row(std::move(cells_));
    cells_.clear();
  }

  Table table_;
  std::vector<TableCell> cells_;
  std::string last_name_;
};

// What a table is filled from: rows with numbers, without controls, in reading order.
struct WhyRows {
  const RunRecord& record;
  const std::vector<std::uint32_t>& shown;
  const ReportOptions& options;

  const Row& row(std::uint32_t index) const { return record.rows[index]; }
};

// Each with its title, ended by a newline; empty where it has nothing to say.
std::string bytes_table(const WhyRows& rows, MissingNumbers& missing);
std::string page_table(const WhyRows& rows, MissingNumbers& missing);
std::string fault_table(const WhyRows& rows, MissingNumbers& missing);
std::string time_table(const WhyRows& rows, MissingNumbers& missing);
std::string lock_table(const WhyRows& rows);
std::string call_table(const WhyRows& rows);
std::string cost_table(const WhyRows& rows, MissingNumbers& missing);

}
