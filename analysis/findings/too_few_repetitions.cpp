// too-few-repetitions: below six repetitions a median has no 95 % interval, and two rows can't be told apart,
// however far their medians lie from each other. Met in hyperfine issue 21 and many a merged "8 % faster".

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"

namespace iotrace {

namespace {

std::vector<Finding> judge_repetitions(const RunRecord& record) {
  RowIndexes few;
  std::size_t least = kFewestSamplesForInterval, most = 0, measured = 0;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    if (record.rows[index].error || open_loop(record.rows[index])) continue;
    std::size_t n = throughputs(record.rows[index]).size();
    if (n == 0) continue;
    ++measured;
    if (n >= kFewestSamplesForInterval) continue;
    few.push_back(index);
    least = std::min(least, n);
    most = std::max(most, n);
  }
  if (few.empty()) return {};

  std::uint32_t needed = kFewestSamplesForInterval;
  for (const RowGroup& group : row_groups(record))
    needed = std::max(needed, repetitions_needed(group.comparisons));
  std::string sizes = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return {
      {.id = "too-few-repetitions",
       .severity = "info",
       .rows = few,
       .text = fmt::format(
           "nothing is called faster or slower for {} of {} rows: {} {} each, and a 95 % interval "
           "of the median takes {}.",
           few.size(), measured, sizes, most == 1 ? "repetition" : "repetitions", kFewestSamplesForInterval),
       .numbers = {{"rows", static_cast<double>(few.size())},
                   {"fewest", static_cast<double>(least)},
                   {"needed", needed}},
       .remedy = fmt::format("Run with --reps {} or more.", needed),
       .source = "Conover, Practical Nonparametric Statistics, 3.2; hyperfine issue 21"}};
}

}

extern const FindingRule too_few_repetitions;
const FindingRule too_few_repetitions{
    "too-few-repetitions", "rows with fewer than 6 repetitions: no interval, nothing is called faster",
    judge_repetitions};

}
