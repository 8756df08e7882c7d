#pragma once
// A table of wording.h, filled line by line: rows of a group by strategy and threads. A blank cell: there was
// nothing to count. A "-": not available, with the reason below the table.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/format.h"
#include "analysis/reports/missing_numbers.h"
#include "analysis/reports/wording.h"

namespace iotrace::wording {

class RowTable {
public:
  // The columns beside strategy and threads; a heading may have several lines.
  RowTable(std::string heading, std::vector<std::string> columns);

  void start_row(const Row& row);
  void add(std::string text);

  // text(*number); where there is none "-", and the reason that the row gives for `key`.
  void add_known(const auto& number, std::string_view key, auto text) {
    add(number ? text(*number) : mark(key));
  }
  // The number per op, blank for 0.
  void add_per_op(const std::optional<Count>& number, std::string_view key);

  void add_sentence(std::string sentence) { table_.sentences.push_back(std::move(sentence)); }

  // nullopt: there is neither a line nor a sentence.
  std::optional<ResponseTable> finish() &&;

private:
  std::string mark(std::string_view key);

  ResponseTable table_;
  const Row* row_ = nullptr;
  std::string last_name_;
  MissingNumbers missing_;
};

// ---- cells ----

std::string count_text(Count count);                        // blank for 0
std::string ns_text(const Histogram& latencies, double q);  // blank without samples

// The q-quantile of a distribution of plain numbers; blank without samples.
std::string quantile_text(const Histogram& numbers, double q);

}
