// rows-identical: a strategy that has to differ from another one where pages are absent, and does not. The
// sign by which the weeks of Lucene PR 16279 could have been spared: the row "with prefetch" was the row
// without it, to the percent.
//
// Equal speed alone proves nothing, since two strategies may meet at the device's limit. So the kernel's work
// per op must be equal too, faults by kind above all: a hint that works turns faults that read into faults
// that wait or map. Rows without faults on the file carry no such sign, and nothing is said of them.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// A hint that matters changes throughput by far more than 5 %; intervals of ten repetitions on a quiet
// machine are narrower than that.
constexpr double kSameSpeed = 0.05;
// Both rows read the same offsets, so that counts per op differ by the ends of the window alone.
constexpr double kSameCounts = 0.02;
// Device bytes also hold metadata and what others left half-read.
constexpr double kSameDeviceBytes = 0.05;
// Above the 0.1 % that the cold case proves, below where cached pages would blur a hint's effect.
constexpr double kAbsentResidency = 0.01;

constexpr std::size_t kCellsNamed = 4;  // in the sentence; `rows` has all

struct IdenticalCell {
  std::uint32_t row = 0, other = 0;
  Estimate ratio;
  bool same_pages_known = false;
};

bool within(double a, double b, double tolerance, double whole) {
  return std::abs(a - b) <= tolerance * whole;
}

bool pages_were_absent(const Row& row) {
  auto absent = [](const Repetition& rep) {
    return rep.residency_before_ratio && *rep.residency_before_ratio <= kAbsentResidency;
  };
  return (!row.untraced || std::ranges::all_of(row.untraced->reps, absent)) &&
         (!row.traced || std::ranges::all_of(row.traced->reps, absent));
}

std::optional<double> per_op(std::optional<Count> count, double ops) {
  return count && ops > 0 ? std::optional(static_cast<double>(*count) / ops) : std::nullopt;
}

// Faults per op by kind, each kind to within kSameCounts of all faults: 3 waits of 25000 faults against 5 are
// the same.
bool same_faults(const Row& a, const Row& b) {
  if (!a.faults || !b.faults) return false;
  double ops_a = ops_of(a.traced), ops_b = ops_of(b.traced);
  double all = 0, differing = 0;
  for (auto kind : {&Faults::mapped, &Faults::waited, &Faults::read}) {
    const auto &fault_a = (*a.faults).*kind, &fault_b = (*b.faults).*kind;
    if (!fault_a || !fault_b || ops_a <= 0 || ops_b <= 0) return false;
    double of_a = *per_op(fault_a->count, ops_a), of_b = *per_op(fault_b->count, ops_b);
    all += std::max(of_a, of_b);
    differing = std::max(differing, std::abs(of_a - of_b));
  }
  return all > 0 && differing <= kSameCounts * all;
}

std::optional<double> pages_added(const Row& row) {
  return row.page_cache ? per_op(row.page_cache->added_pages, ops_of(row.traced)) : std::nullopt;
}

std::optional<double> device_bytes(const Row& row) {
  return per_op(row.device_bytes, ops_of(counted_measurement(row)));
}

std::optional<IdenticalCell> identical(const RunRecord& record, std::uint32_t index,
                                       std::uint32_t other_index) {
  const Row &row = record.rows[index], &other = record.rows[other_index];
  if (!pages_were_absent(row) || !pages_were_absent(other)) return std::nullopt;

  Estimate ratio = ratio_interval(throughputs(other), throughputs(row));
  if (!ratio.low || !ratio.high || *ratio.low < 1 - kSameSpeed || *ratio.high > 1 + kSameSpeed)
    return std::nullopt;

  if (!same_faults(row, other)) return std::nullopt;
  auto device = device_bytes(row), device_other = device_bytes(other);
  if (!device || !device_other ||
      !within(*device, *device_other, kSameDeviceBytes, std::max(*device, *device_other)))
    return std::nullopt;
  auto pages = pages_added(row), pages_other = pages_added(other);
  bool pages_known = pages && pages_other;
  if (pages_known && !within(*pages, *pages_other, kSameCounts, std::max(*pages, *pages_other)))
    return std::nullopt;
  return IdenticalCell{index, other_index, ratio, pages_known};
}

// What the hints of these rows say about the cause.
std::string remedy_for(const RunRecord& record, const std::vector<IdenticalCell>& cells) {
  Count issued = 0, rejected = 0;
  bool known = true;
  for (const IdenticalCell& cell : cells) {
    const Row& row = record.rows[cell.row];
    known = known && row.expects.hints && row.madvise;
    if (!known) break;
    HintCalls calls = *willneed_calls(row);
    issued += calls.issued;
    rejected += calls.issued - calls.accepted;
  }
  if (!known) return "Check that what it does beyond the other is really done, and is not refused.";
  if (issued == 0) return "No madvise(WILLNEED) was seen: check that the call is reached.";
  if (rejected > 0) return "Its hints are refused: look at the return value of madvise.";
  return "Its hints are accepted: check that they cover the bytes that are read next.";
}

Finding finding_for(const RunRecord& record, const std::vector<IdenticalCell>& cells) {
  const Row &row = record.rows[cells[0].row], &other = record.rows[cells[0].other];
  Finding finding{.id = "rows-identical", .severity = "fail", .source = "Lucene PR 16279"};
  std::string where;
  double low = *cells[0].ratio.low, high = *cells[0].ratio.high;
  bool pages_known = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const IdenticalCell& cell = cells[i];
    const Row& at = record.rows[cell.row];
    finding.rows.insert(finding.rows.end(), {cell.row, cell.other});
    low = std::min(low, *cell.ratio.low);
    high = std::max(high, *cell.ratio.high);
    pages_known = pages_known && cell.same_pages_known;
    if (i < kCellsNamed)
      where += fmt::format("{}{:.2f} [{:.2f}-{:.2f}] ({} {} {}, n {})", i > 0 ? ", " : "", *cell.ratio.median,
                           *cell.ratio.low, *cell.ratio.high, at.case_name, at.pattern,
                           threads_name(at.threads), cell.ratio.n);
  }
  if (cells.size() > kCellsNamed) where += fmt::format(" and {} more", cells.size() - kCellsNamed);
  finding.text =
      fmt::format("{} equals {}: ratio [95 % interval] {}, and so do faults by kind{} and device bytes "
                  "per op: the strategy had no effect.",
                  row.strategy, other.strategy, where, pages_known ? ", pages added" : "");
  finding.numbers = {{"cells", static_cast<double>(cells.size())}, {"ratio_low", low}, {"ratio_high", high}};
  finding.remedy = remedy_for(record, cells);
  return finding;
}

std::vector<Finding> judge_rows(const RunRecord& record) {
  std::map<std::pair<std::string, std::string>, std::vector<IdenticalCell>> pairs;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    if (!row.expects.differs_from || !may_be_judged(row)) continue;
    auto partner = row_beside(record, row, *row.expects.differs_from);
    if (!partner) continue;
    if (auto cell = identical(record, index, *partner))
      pairs[{row.strategy, *row.expects.differs_from}].push_back(*cell);
  }
  std::vector<Finding> findings;
  for (const auto& [names, cells] : pairs) findings.push_back(finding_for(record, cells));
  return findings;
}

}

extern const FindingRule rows_identical;
const FindingRule rows_identical{
    "rows-identical", "a strategy that must differ from another on absent pages runs and faults just like it",
    judge_rows};

}
