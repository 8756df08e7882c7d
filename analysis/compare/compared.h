#pragma once
// Records set side by side, cell by cell: rows that were measured alike, what is proven of each pair, and
// which counters moved with it. Every row is compared with that of the first record; within one record, with
// that of the first strategy, the fewest threads or the first case. Records of one strategy each can be set
// side by side too, by strategy; likewise by threads and by case.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/moved.h"
#include "analysis/comparison.h"
#include "analysis/run_record.h"

namespace iotrace {

struct NamedRecord {
  std::string name;  // as the user called it: "a.json"
  RunRecord record;
  std::vector<std::string> more_sessions;  // when the others began that pool.h put into it
};

enum class Dimension { kStrategy, kThreads, kCase };

// "strategy" -> kStrategy
std::optional<Dimension> dimension_named(std::string_view name);
std::string_view name_of(Dimension dimension);

// Where a row stands.
struct RowPlace {
  std::uint32_t record = 0, row = 0;
};

// A row against that of the base.
struct Difference {
  RowPlace place;
  Estimate ratio;                    // its throughput / the base's
  std::optional<double> p_adjusted;  // after Holm's correction over Comparison::tests
  Verdict verdict = Verdict::kCannotTell;
  // What the verdict stands on beside p: "within the noise floor of 3.1 %", "drifted in B"; else empty.
  std::string reason;
  std::vector<CounterChange> counters;  // all that both rows have
  std::vector<std::string> moved;       // the sentences of those that moved with the throughput, by weight
};

struct ComparedCell {
  RowPlace base;
  std::vector<Difference> against;  // at most one of each record, in their order
  std::string value;                // in the dimension asked for: "mmap-random", "T04", "cold"; else ""
};

// Cells that were measured alike; of several records, and share a value.
struct CellTable {
  std::string title;
  std::string value;  // "" where cells of several stand together
  std::vector<ComparedCell> cells;
};

// Over every cell whose ratio is known, whether or not it is proven.
struct GeometricMean {
  std::uint32_t record = 0;
  std::string value;  // of the dimension; "": over all cells
  double ratio = 1;
  std::uint32_t cells = 0;
};

// Something that the records, their hosts or files don't have in common. One value each, in their order.
struct RecordDifference {
  std::string what;  // "kernel"
  std::vector<std::string> values;
};

struct Comparison {
  std::vector<NamedRecord> records;  // at least one; the base first
  std::optional<Dimension> by;
  std::vector<CellTable> tables;
  std::vector<GeometricMean> means;  // none where timings don't count
  std::uint32_t tests = 0;           // that Holm's correction covers
  std::vector<RowPlace> unmatched;   // rows without a counterpart
  std::vector<RecordDifference> differences;
  std::vector<std::string> warnings;  // what makes it unfair

  const Row& row(RowPlace place) const { return records[place.record].record.rows[place.row]; }
  // Rows of one record are compared with each other.
  bool within() const { return records.size() == 1; }
};

// errors   usage: no record; one record and nothing to compare it by; a record of attach
//          failed: no cell that two rows have in common
Result<Comparison> compare_records(std::vector<NamedRecord> records, std::optional<Dimension> by);

// Proven slower than the base, by more than this share even at the near end of the interval.
//   share  0.05: 5 %
bool slower_by_more_than(const Difference& difference, double share);

// 'A', 'B', …; past 'Z' "#27".
std::string letter_of(std::uint32_t record);

}
