// below-noise: a difference that repetitions would prove, were it not smaller than what one strategy differs
// from itself by. Met wherever a patch was merged over 8 % that the same binary shows against itself (S15).

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"

namespace iotrace {

namespace {

bool lost_in_noise(const PairVerdict& pair) {
  return pair.verdict == Verdict::kNoneProven && pair.p_adjusted.value_or(1) <= kSignificance;
}

Finding finding_for(const RunRecord& record, const PairVerdict& pair, double noise_floor) {
  const Row &row = record.rows[pair.row], &other = record.rows[pair.other];
  return {.id = "below-noise",
          .severity = "info",
          .rows = {pair.row, pair.other},
          .text =
              fmt::format("{} came out {} ahead of {} ({}), but the same strategy, run twice, differs by {} "
                          "there: no verdict.",
                          row.strategy, percent(*pair.ratio.median - 1), other.strategy,
                          name_cells(record, {pair.row}), percent(noise_floor)),
          .numbers = {{"ratio", *pair.ratio.median}, {"noise_floor_ratio", noise_floor}},
          .remedy = "Measure longer on a quieter machine before calling either faster (--reps, --duration).",
          .source = "A/A control of this run"};
}

std::vector<Finding> judge_noise(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const RowGroup& group : row_groups(record))
    for (const Ranking& ranking : group.rankings)
      for (const PairVerdict& pair : ranking.leader_against)
        if (lost_in_noise(pair) && ranking.noise_floor_ratio)
          findings.push_back(finding_for(record, pair, *ranking.noise_floor_ratio));
  return findings;
}

}

extern const FindingRule below_noise;
const FindingRule below_noise{"below-noise", "a difference smaller than that of a strategy from itself",
                              judge_noise};

}
