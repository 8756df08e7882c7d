#include "analysis/reports/row_table.h"

#include <algorithm>
#include <iterator>

#include "analysis/row_facts.h"

namespace iotrace::wording {

RowTable::RowTable(std::string heading, std::vector<std::string> columns)
    : table_{.heading = std::move(heading), .columns = {"strategy", ""}, .lines = {}, .sentences = {}} {
  std::ranges::move(columns, std::back_inserter(table_.columns));
}

void RowTable::start_row(const Row& row) {
  row_ = &row;
  // A name stands on the first of its lines only.
  const std::string name = row_name(row);
  table_.lines.push_back(
      {name == last_name_ ? "" : name, threads_name(row.threads) + (row.drifted ? "!" : "")});
  last_name_ = name;
}

void RowTable::add(std::string text) {
  table_.lines.back().push_back(std::move(text));
}

void RowTable::add_per_op(const std::optional<Count>& number, std::string_view key) {
  const double ops = ops_of(row_->traced);
  add_known(number, key, [&](Count count) {
    return count == 0 || ops <= 0 ? "" : three_digits(static_cast<double>(count) / ops);
  });
}

std::string RowTable::mark(std::string_view key) {
  std::string column = table_.columns[table_.lines.back().size()];
  std::ranges::replace(column, '\n', ' ');
  return missing_.mark(*row_, key, column);
}

std::optional<ResponseTable> RowTable::finish() && {
  for (const std::string& reason : missing_.reasons()) table_.sentences.push_back("not available: " + reason);
  if (table_.lines.empty() && table_.sentences.empty()) return std::nullopt;
  return std::move(table_);
}

std::string count_text(Count count) {
  return count == 0 ? "" : std::to_string(count);
}

std::string ns_text(const Histogram& latencies, double q) {
  const auto ns = latencies.percentile(q);
  return ns ? human_ns(static_cast<double>(*ns)) : "";
}

std::string quantile_text(const Histogram& numbers, double q) {
  const auto value = numbers.percentile(q);
  return value ? std::to_string(*value) : "";
}

}
