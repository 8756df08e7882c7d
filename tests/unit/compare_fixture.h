#pragma once
// Small records to compare, and what tests look up in a comparison.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "analysis/compare/compared.h"
#include "analysis/summary.h"

namespace iotrace::test {

// One repetition per number, of one second each: 2000 ops are 2 ops/ms.
inline Measurement measured(const std::vector<Count>& ops) {
  Measurement measurement;
  for (Count n : ops) measurement.reps.push_back({n, 1.0});
  return measurement;
}

inline Row row(const std::string& strategy, const std::vector<Count>& ops, std::uint32_t threads = 1) {
  Row row;
  row.strategy = strategy;
  row.case_name = "cold";
  row.pattern = "random";
  row.threads = threads;
  row.read_size_bytes = 4096;
  row.reads_per_op = 1;
  row.untraced = measured(ops);
  return row;
}

inline const std::vector<Count> kSlow{100, 101, 102, 103, 104, 105};
inline const std::vector<Count> kSlowAgain{100, 101, 102, 103, 104, 106};
inline const std::vector<Count> kFast{200, 201, 202, 203, 204, 205};

inline RunRecord record_of(std::vector<Row> rows) {
  RunRecord record;
  record.started = "2026-11-30T15:00:00Z";
  record.file.size_bytes = 1 << 30;
  record.rows = std::move(rows);
  summarise(record);
  return record;
}

inline Result<Comparison> compared(std::vector<RunRecord> records,
                                   std::optional<Dimension> by = std::nullopt) {
  std::vector<NamedRecord> named;
  for (RunRecord& record : records)
    named.push_back({std::string(1, static_cast<char>('a' + named.size())) + ".json", std::move(record), {}});
  return compare_records(std::move(named), by);
}

// All differences, in the order of the tables.
inline std::vector<Difference> differences(const Comparison& all) {
  std::vector<Difference> found;
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      found.insert(found.end(), cell.against.begin(), cell.against.end());
  return found;
}

inline Difference the_difference(const Comparison& all) {
  const auto found = differences(all);
  REQUIRE(found.size() == 1);
  return found.front();
}

inline bool warns(const Comparison& all, std::string_view text) {
  return std::ranges::any_of(
      all.warnings, [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

inline std::string value_of(const Comparison& all, std::string_view what, std::size_t record) {
  for (const RecordDifference& difference : all.differences)
    if (difference.what == what) return difference.values.at(record);
  return "the same";
}

}
