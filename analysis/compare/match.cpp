#include "analysis/compare/match.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/format.h"
#include "analysis/reports/wording.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

std::string value_in(Dimension dimension, const Row& row) {
  switch (dimension) {
  case Dimension::kStrategy: return printable(row.strategy);
  case Dimension::kThreads: return threads_name(row.threads);
  case Dimension::kCase: break;
  }
  return printable(row.case_name);
}

bool alike_but_for_case(const Row& a, Row b) {
  b.case_name = a.case_name;
  return measured_alike_elsewhere(a, b);
}

// The rows are of one cell, or would be if they did not differ in that dimension.
bool same_but_for(std::optional<Dimension> dimension, const Row& a, const Row& b) {
  return (dimension == Dimension::kStrategy || a.strategy == b.strategy) &&
         (dimension == Dimension::kThreads || a.threads == b.threads) &&
         (dimension == Dimension::kCase ? alike_but_for_case(a, b) : measured_alike_elsewhere(a, b));
}

// The rows of a record that are nobody's control, in the order in which they are told.
std::vector<std::uint32_t> rows_of(const RunRecord& record) {
  std::vector<std::uint32_t> rows;
  for (const RowGroup& group : row_groups(record))
    for (std::uint32_t index : wording::in_reading_order(record, group.rows))
      if (!record.rows[index].control) rows.push_back(index);
  return rows;
}

void add_cell(Comparison& all, const std::string& title, ComparedCell cell) {
  const std::string value = all.within() ? "" : cell.value;
  auto same = std::ranges::find_if(
      all.tables, [&](const CellTable& table) { return table.title == title && table.value == value; });
  if (same == all.tables.end()) same = all.tables.insert(all.tables.end(), {title, value, {}});
  same->cells.push_back(std::move(cell));
}

std::string title_of(const RunRecord& record, std::uint32_t row) {
  return wording::group_title(record, RowGroup{.rows = {row}});
}

// Rows of the first record with those of the others that differ from them in `dimension` alone.
void match_records(Comparison& all, std::optional<Dimension> dimension) {
  const RunRecord& first = all.records.front().record;
  std::vector<std::set<std::uint32_t>> matched(all.records.size());
  std::vector<std::vector<std::uint32_t>> rows;
  for (const NamedRecord& named : all.records) rows.push_back(rows_of(named.record));
  for (std::uint32_t index : rows.front()) {
    const Row& base = first.rows[index];
    ComparedCell cell{.base = {0, index}};
    for (std::uint32_t other = 1; other < all.records.size(); ++other)
      for (std::uint32_t candidate : rows[other])
        if (same_but_for(dimension, base, all.records[other].record.rows[candidate]) &&
            matched[other].insert(candidate).second) {
          cell.against.push_back({.place = {other, candidate}});
          break;
        }
    if (cell.against.empty()) {
      all.unmatched.push_back({0, index});
      continue;
    }
    std::string value = all.by ? value_in(*all.by, base) : "";
    if (dimension) value = value_in(*dimension, all.row(cell.against.front().place)) + " against " + value;
    cell.value = std::move(value);
    add_cell(all, title_of(first, index), std::move(cell));
  }
  for (std::uint32_t other = 1; other < all.records.size(); ++other)
    for (std::uint32_t index : rows[other])
      if (!matched[other].contains(index)) all.unmatched.push_back({other, index});
}

bool one_value_each(const Comparison& all, Dimension dimension) {
  return std::ranges::all_of(all.records, [&](const NamedRecord& named) {
    std::set<std::string> values;
    for (const Row& row : named.record.rows) values.insert(value_in(dimension, row));
    return values.size() == 1;
  });
}

// The base of a whole record, so that one table has one: the first strategy, the fewest threads, the first
// case.
bool is_base(Dimension dimension, const RunRecord& record, const Row& row) {
  switch (dimension) {
  case Dimension::kStrategy: return row.strategy == record.rows.front().strategy;
  case Dimension::kThreads: return row.threads == std::ranges::min(record.rows, {}, &Row::threads).threads;
  case Dimension::kCase: break;
  }
  return row.case_name == record.rows.front().case_name;
}

// Of two cases the title names both, and of their memory limits neither.
std::string title_within(const RunRecord& record, Dimension by, const Row& base, std::uint32_t index) {
  if (by != Dimension::kCase) return title_of(record, index);
  RunRecord pair;
  pair.rows = {record.rows[index]};
  pair.rows[0].case_name += " against " + base.case_name;
  pair.rows[0].cell.memory_limit_bytes = std::nullopt;
  return title_of(pair, 0);
}

void match_rows(Comparison& all) {
  const RunRecord& record = all.records.front().record;
  if (record.rows.empty()) return;
  const std::vector<std::uint32_t> rows = rows_of(record);
  std::set<std::uint32_t> used;
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    if (is_base(*all.by, record, row)) continue;
    auto base = std::ranges::find_if(rows, [&](std::uint32_t candidate) {
      return is_base(*all.by, record, record.rows[candidate]) &&
             same_but_for(*all.by, record.rows[candidate], row);
    });
    if (base == rows.end()) {
      all.unmatched.push_back({0, index});
      continue;
    }
    used.insert(*base);
    add_cell(all, title_within(record, *all.by, record.rows[*base], index),
             {{0, *base}, {{.place = {0, index}}}, value_in(*all.by, row)});
  }
  for (std::uint32_t index : rows)
    if (is_base(*all.by, record, record.rows[index]) && !used.contains(index))
      all.unmatched.push_back({0, index});
}

}

void match_cells(Comparison& all) {
  if (all.within()) return match_rows(all);
  match_records(all, std::nullopt);
  if (all.tables.empty() && all.by && one_value_each(all, *all.by)) {
    all.unmatched.clear();
    match_records(all, all.by);
  }
}

}
