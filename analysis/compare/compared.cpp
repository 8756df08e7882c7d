// What is proven of rows that belong together, and the sum of it.

#include "analysis/compare/compared.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/compare/fairness.h"
#include "analysis/compare/match.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

constexpr std::array<std::pair<std::string_view, Dimension>, 3> kDimensions{
    {{"strategy", Dimension::kStrategy}, {"threads", Dimension::kThreads}, {"case", Dimension::kCase}}};

// ---- what is proven ----

// Why the row has no throughput to compare; empty: it has.
std::string why_unranked(const Row& row) {
  if (row.error) return "error";
  if (row.drifted) return "drifted";
  if (open_loop(row)) return "an open loop's throughput is what was asked for";
  return can_be_ranked(row) ? "" : "no repetition";
}

std::string why_not_compared(const Comparison& all, RowPlace base, RowPlace other) {
  const auto in = [&](RowPlace place) { return all.within() ? "" : " in " + letter_of(place.record); };
  for (RowPlace place : {base, other})
    if (auto why = why_unranked(all.row(place)); !why.empty())
      return open_loop(all.row(place)) ? why : why + in(place);
  if (without_probes(all.row(base)) != without_probes(all.row(other)))
    return "one was measured with probes only, the other without";
  for (RowPlace place : {base, other})
    if (emulated(all.records[place.record].record.host)) return "emulated: only counts count";
  return {};
}

std::string why_cannot_tell(std::size_t n, std::size_t n_other, std::uint32_t tests) {
  return fmt::format("{}, too few for {}: {} are needed", counted(std::min(n, n_other), "repetition"),
                     counted(tests, "comparison"), repetitions_needed(tests));
}

void judge(const Comparison& all, const ComparedCell& cell, Difference& difference) {
  const Row &base = all.row(cell.base), &other = all.row(difference.place);
  const std::size_t n = throughputs(base).size(), n_other = throughputs(other).size();
  const double floor = std::max(base.noise_floor_ratio.value_or(0), other.noise_floor_ratio.value_or(0));
  difference.verdict = verdict_of(difference.ratio, difference.p_adjusted, all.tests, n, n_other, floor);
  if (difference.verdict == Verdict::kCannotTell)
    difference.reason = difference.ratio.median ? why_cannot_tell(n, n_other, all.tests)
                                                : "a repetition finished no op, so that there is no ratio";
  else if (difference.verdict == Verdict::kNoneProven && *difference.p_adjusted <= kSignificance)
    difference.reason = fmt::format("within the noise floor of {}", percent(floor));
}

template<typename Visit> void each_difference(Comparison& all, Visit visit) {
  for (CellTable& table : all.tables)
    for (ComparedCell& cell : table.cells)
      for (Difference& difference : cell.against) visit(cell, difference);
}

// Holm over every test at once, then the verdicts.
void judge_all(Comparison& all) {
  std::vector<double> p;
  std::vector<std::pair<ComparedCell*, Difference*>> tested;
  each_difference(all, [&](ComparedCell& cell, Difference& difference) {
    difference.reason = why_not_compared(all, cell.base, difference.place);
    if (!difference.reason.empty()) return;
    const auto a = throughputs(all.row(cell.base)), b = throughputs(all.row(difference.place));
    difference.ratio = ratio_interval(a, b);
    p.push_back(mann_whitney_p(a, b).value_or(1));
    tested.emplace_back(&cell, &difference);
  });
  all.tests = static_cast<std::uint32_t>(p.size());
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tested[i].second->p_adjusted = adjusted[i];
    judge(all, *tested[i].first, *tested[i].second);
  }
}

void explain(Comparison& all) {
  each_difference(all, [&](ComparedCell& cell, Difference& difference) {
    const Row &base = all.row(cell.base), &other = all.row(difference.place);
    if (base.error || other.error) return;
    difference.counters = counter_changes(base, other);
    const bool proven = difference.verdict == Verdict::kFaster || difference.verdict == Verdict::kSlower;
    const bool counts_alone =
        emulated(all.records[0].record.host) || emulated(all.records[difference.place.record].record.host);
    if (proven || counts_alone)
      difference.moved =
          moved_with(base, other, proven ? difference.ratio.median.value_or(1) : 1, difference.counters);
  });
}

// ---- geometric means ----

void add_mean(Comparison& all, std::uint32_t record, const std::string& value) {
  double logarithms = 0;
  std::uint32_t cells = 0;
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      for (const Difference& difference : cell.against) {
        if (difference.place.record != record || !difference.ratio.median) continue;
        if (!value.empty() && cell.value != value) continue;
        logarithms += std::log(*difference.ratio.median);
        ++cells;
      }
  if (cells > 0) all.means.push_back({record, value, std::exp(logarithms / cells), cells});
}

// By value of the dimension, then over all, which says nothing where the values are set side by side, or
// where there is one. The mean of a single cell is that cell.
void add_means(Comparison& all) {
  std::vector<std::string> values;
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      if (!cell.value.empty() && std::ranges::find(values, cell.value) == values.end())
        values.push_back(cell.value);
  for (std::uint32_t record = all.within() ? 0 : 1; record < all.records.size(); ++record) {
    for (const std::string& value : values) add_mean(all, record, value);
    if (!all.within() && values.size() != 1) add_mean(all, record, "");
  }
  std::erase_if(all.means, [&](const GeometricMean& mean) { return mean.cells == 1 && values.size() < 2; });
}

Error nothing_in_common(const Comparison& all) {
  if (all.within())
    return {fmt::format("{}: no two rows differ in their {} alone: there is nothing to compare",
                        printable(all.records[0].name), name_of(*all.by))};
  return {fmt::format(
      "{} and {} have no cell in common: compare needs rows of the same strategy, case, pattern, read size, "
      "threads and pace, or records that differ in one of them alone and --by strategy, threads or case",
      printable(all.records[0].name), printable(all.records[1].name))};
}

}

std::optional<Dimension> dimension_named(std::string_view name) {
  for (const auto& [known, dimension] : kDimensions)
    if (known == name) return dimension;
  return std::nullopt;
}

std::string_view name_of(Dimension dimension) {
  return std::ranges::find(kDimensions, dimension, &std::pair<std::string_view, Dimension>::second)->first;
}

Result<Comparison> compare_records(std::vector<NamedRecord> records, std::optional<Dimension> by) {
  if (records.empty())
    return usage_error("compare needs records that run -o has written: iotrace compare a.json b.json");
  if (records.size() == 1 && !by)
    return usage_error("compare needs a second record, or --by strategy, threads or case within one");
  for (const NamedRecord& named : records)
    if (of_attach(named.record))
      return usage_error(printable(named.name) +
                         ": a record of attach holds no throughput to compare; compare reads those of run");

  Comparison all{.records = std::move(records), .by = by};
  match_cells(all);
  if (all.tables.empty()) return nothing_in_common(all);
  judge_all(all);
  explain(all);
  add_means(all);
  all.differences = record_differences(all);
  all.warnings = fairness_warnings(all);
  return all;
}

bool slower_by_more_than(const Difference& difference, double share) {
  return difference.verdict == Verdict::kSlower && difference.ratio.high &&
         *difference.ratio.high < 1 - share;
}

std::string letter_of(std::uint32_t record) {
  return record < 26 ? std::string(1, static_cast<char>('A' + record)) : fmt::format("#{}", record + 1);
}

}
