#include "analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/row_facts.h"
#include "analysis/summary.h"

namespace iotrace {

namespace {

auto conditions(const Cell& c) {
  // Each row has a capacity of its own, of which it gets as many percent as the others.
  const std::optional<double> rate = c.rate_pct ? std::nullopt : c.rate;
  return std::make_tuple(c.pace, rate, c.rate_pct, c.arrivals, c.compute_ns, c.align_bytes, c.hot_size_bytes,
                         c.cold_pct, c.zipf_theta, c.stride_bytes, c.write_pct, c.mmap_churn);
}

auto dimensions(const Row& r) {
  return std::tie(r.case_name, r.pattern, r.read_size_bytes, r.reads_per_op);
}

// Two-sided p of two samples that do not overlap at all: 2 / C(a + b, a).
double smallest_p(std::size_t a, std::size_t b) {
  double log_ways = std::lgamma(a + b + 1.0) - std::lgamma(a + 1.0) - std::lgamma(b + 1.0);
  return std::min(1.0, 2 * std::exp(-log_ways));
}

// How far apart two rows are, whichever is the faster: 1.25 and 0.8 both are 0.25.
double distance(double ratio) {
  return std::max(ratio, 1 / ratio) - 1;
}

Ranking rank(const RunRecord& record, std::uint32_t threads, const std::vector<std::uint32_t>& group) {
  Ranking ranking{.threads = threads};
  std::vector<std::uint32_t> able;
  for (std::uint32_t index : group) {
    const Row& row = record.rows[index];
    if (row.threads != threads) continue;
    if (row.noise_floor_ratio)
      ranking.noise_floor_ratio = std::max(ranking.noise_floor_ratio.value_or(0), *row.noise_floor_ratio);
    if (can_be_ranked(row)) able.push_back(index);
  }
  // With probes is slower than without: the two are never ranked against each other.
  bool untraced = std::ranges::any_of(able, [&](auto index) { return without_probes(record.rows[index]); });
  std::erase_if(able, [&](auto index) { return without_probes(record.rows[index]) != untraced; });

  std::ranges::stable_sort(able, std::ranges::greater(),
                           [&](auto index) { return median(throughputs(record.rows[index])).value_or(0); });
  ranking.rows = std::move(able);
  return ranking;
}

// Holm over all tests of the group at once, then the verdicts.
void judge_pairs(const RunRecord& record, RowGroup& group) {
  std::vector<double> p;
  for (Ranking& ranking : group.rankings)
    for (std::size_t i = 1; i < ranking.rows.size(); ++i) {
      auto leader = throughputs(record.rows[ranking.rows[0]]),
           other = throughputs(record.rows[ranking.rows[i]]);
      ranking.leader_against.push_back({ranking.rows[0], ranking.rows[i], ratio_interval(other, leader)});
      p.push_back(mann_whitney_p(leader, other).value_or(1));
    }
  group.comparisons = static_cast<std::uint32_t>(p.size());

  std::vector<double> adjusted = holm(p);
  auto next = adjusted.begin();
  for (Ranking& ranking : group.rankings)
    for (PairVerdict& pair : ranking.leader_against) {
      pair.p_adjusted = *next++;
      pair.verdict = verdict_of(
          pair.ratio, pair.p_adjusted, group.comparisons, throughputs(record.rows[pair.row]).size(),
          throughputs(record.rows[pair.other]).size(), ranking.noise_floor_ratio.value_or(0));
    }
}

}

Verdict verdict_of(const Estimate& ratio, const std::optional<double>& p_adjusted, std::uint32_t comparisons,
                   std::size_t n, std::size_t n_other, double noise_floor) {
  if (std::min(n, n_other) < kFewestSamplesForInterval || !p_adjusted || !ratio.median)
    return Verdict::kCannotTell;
  if (*p_adjusted <= kSignificance)
    return distance(*ratio.median) <= noise_floor ? Verdict::kNoneProven
           : *ratio.median > 1                    ? Verdict::kFaster
                                                  : Verdict::kSlower;
  bool out_of_reach = smallest_p(n, n_other) * comparisons > kSignificance;
  return out_of_reach ? Verdict::kCannotTell : Verdict::kNoneProven;
}

PairVerdict compare(const RunRecord& record, std::uint32_t index, std::uint32_t other_index) {
  PairVerdict pair{index, other_index};
  const Row &row = record.rows[index], &other = record.rows[other_index];
  if (!can_be_ranked(row) || !can_be_ranked(other) || !same_cell(row, other) ||
      without_probes(row) != without_probes(other))
    return pair;

  std::map<std::uint32_t, std::uint32_t> rows_by_threads;
  for (const Row& any : record.rows)
    if (measured_alike(any, row) && can_be_ranked(any)) ++rows_by_threads[any.threads];
  std::uint32_t pairs = 0;
  for (auto [threads, rows] : rows_by_threads) pairs += rows * (rows - 1) / 2;

  auto a = throughputs(row), b = throughputs(other);
  pair.ratio = ratio_interval(b, a);
  pair.p_adjusted = std::min(1.0, mann_whitney_p(a, b).value_or(1) * pairs);
  double noise_floor = std::max(row.noise_floor_ratio.value_or(0), other.noise_floor_ratio.value_or(0));
  pair.verdict = verdict_of(pair.ratio, pair.p_adjusted, pairs, a.size(), b.size(), noise_floor);
  return pair;
}

std::optional<std::uint32_t> row_beside(const RunRecord& record, const Row& row, std::string_view strategy) {
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& other = record.rows[index];
    if (other.strategy == strategy && can_be_ranked(other) && same_cell(row, other)) return index;
  }
  return std::nullopt;
}

bool Ranking::proven() const {
  return !leader_against.empty() && std::ranges::all_of(leader_against, [](const PairVerdict& p) {
    return p.verdict == Verdict::kFaster;
  });
}

bool open_loop(const Row& row) {
  return row.cell.pace == "open";
}

bool measured_alike(const Row& a, const Row& b) {
  return dimensions(a) == dimensions(b) && conditions(a.cell) == conditions(b.cell) &&
         a.cell.memory_limit_bytes == b.cell.memory_limit_bytes;
}

bool measured_alike_elsewhere(const Row& a, const Row& b) {
  return dimensions(a) == dimensions(b) && conditions(a.cell) == conditions(b.cell) &&
         a.cell.memory_of_file_ratio == b.cell.memory_of_file_ratio;
}

bool can_be_ranked(const Row& row) {
  return may_be_judged(row) && !open_loop(row) && !throughputs(row).empty();
}

bool without_probes(const Row& row) {
  return row.untraced && !row.untraced->reps.empty();
}

const Measurement* throughput_measurement(const Row& row) {
  if (without_probes(row)) return &*row.untraced;
  return row.traced && !row.traced->reps.empty() ? &*row.traced : nullptr;
}

std::vector<double> throughputs(const Row& row) {
  const Measurement* measurement = throughput_measurement(row);
  return measurement ? ops_per_ms(*measurement) : std::vector<double>();
}

std::vector<RowGroup> row_groups(const RunRecord& record) {
  std::vector<RowGroup> groups;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    auto alike = std::ranges::find_if(groups, [&](const RowGroup& group) {
      return measured_alike(record.rows[group.rows.front()], record.rows[index]);
    });
    if (alike == groups.end()) alike = groups.insert(groups.end(), RowGroup{});
    alike->rows.push_back(index);
  }
  for (RowGroup& group : groups) {
    std::set<std::uint32_t> thread_counts;
    for (std::uint32_t index : group.rows) thread_counts.insert(record.rows[index].threads);
    for (std::uint32_t threads : thread_counts) group.rankings.push_back(rank(record, threads, group.rows));
    judge_pairs(record, group);
  }
  return groups;
}

std::uint32_t repetitions_needed(std::uint32_t comparisons) {
  std::uint32_t n = kFewestSamplesForInterval;
  while (smallest_p(n, n) * comparisons > kSignificance) ++n;
  return n;
}

}
