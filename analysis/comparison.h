#pragma once
// Which row of a table is proven best, and what may be said of two rows.
//
// A table holds the rows that were measured alike: same case, pattern, read size, reads per op and cell.
// Within it each thread count is ranked on its own: the row with the highest median (the leader) is tested
// against every other by Mann-Whitney, and Holm's correction covers all tests of the table. Rows with an
// error, drifted rows and the A/A control take no part; nor do rows of an open loop, whose throughput is what
// was asked of them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

inline constexpr double kSignificance = 0.05;

enum class Verdict {
  kFaster,  // proven, and by more than the A/A noise floor
  kSlower,
  kNoneProven,  // no difference proven at 95 %
  kCannotTell,  // too few repetitions to prove any difference
};

struct PairVerdict {
  std::uint32_t row = 0, other = 0;  // indexes into RunRecord::rows
  Estimate ratio;                    // throughput of row / throughput of other
  std::optional<double> p_adjusted;  // after Holm's correction
  Verdict verdict = Verdict::kCannotTell;
};

// One thread count of a table.
struct Ranking {
  std::uint32_t threads = 1;
  std::vector<std::uint32_t> rows;          // those that can be ranked, highest median first
  std::vector<PairVerdict> leader_against;  // rows[0] against each of rows[1..], in that order
  std::optional<double> noise_floor_ratio;  // of this thread count; nullopt: no A/A pair

  // The leader is proven faster than each other row, of which there is at least one.
  bool proven() const;
};

struct RowGroup {
  std::vector<std::uint32_t> rows;  // indexes into RunRecord::rows, in their order
  std::vector<Ranking> rankings;    // by thread count, ascending
  std::uint32_t comparisons = 0;    // tests that Holm's correction covers
};

// What is proven of two samples, n and n_other repetitions, whose difference is one of `comparisons` that are
// asked for together. No ratio within 1 +- noise_floor is called a difference.
Verdict verdict_of(const Estimate& ratio, const std::optional<double>& p_adjusted, std::uint32_t comparisons,
                   std::size_t n, std::size_t n_other, double noise_floor);

// One row against any other of its cell, leader or not. Corrected (Bonferroni) over every pair of rows of the
// table that could be asked for, so that a sentence may pick the pair that it needs. kCannotTell where one of
// the two cannot be ranked.
PairVerdict compare(const RunRecord& record, std::uint32_t row, std::uint32_t other);

// The row of that strategy that was measured like `row` and can be ranked.
std::optional<std::uint32_t> row_beside(const RunRecord& record, const Row& row, std::string_view strategy);

// Every row of the record is in exactly one group; groups in order of first appearance.
std::vector<RowGroup> row_groups(const RunRecord& record);

// Ops come at a rate of their own, whatever becomes of those before.
bool open_loop(const Row& row);

// Measured alike, but for strategy, threads and being the control.
bool measured_alike(const Row& a, const Row& b);

// The same of rows of two records: the memory limit follows the size of the file, and may differ.
bool measured_alike_elsewhere(const Row& a, const Row& b);

// The row may be judged, and its throughput is its own doing.
bool can_be_ranked(const Row& row);

// Its throughput comes from repetitions without probes.
bool without_probes(const Row& row);

// The same as measured_alike, with as many threads: they differ in nothing but their strategy.
inline bool same_cell(const Row& a, const Row& b) {
  return a.threads == b.threads && measured_alike(a, b);
}

// The repetitions that a row's throughput comes from: those without probes, else those with them.
const Measurement* throughput_measurement(const Row& row);

// ops/ms of each repetition of throughput_measurement(); empty without one.
std::vector<double> throughputs(const Row& row);

// Fewest repetitions a side with which Mann-Whitney can reject at 5 % after Holm over `comparisons` tests.
std::uint32_t repetitions_needed(std::uint32_t comparisons);

}
