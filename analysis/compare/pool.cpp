#include "analysis/compare/pool.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/compare/fairness.h"
#include "analysis/row_facts.h"
#include "analysis/summary.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

const Row* same_row(const RunRecord& record, const Row& row) {
  auto found = std::ranges::find_if(record.rows, [&](const Row& other) {
    return other.control == row.control && other.strategy == row.strategy && other.threads == row.threads &&
           measured_alike(other, row);
  });
  return found == record.rows.end() || found->error || !without_probes(*found) ? nullptr : &*found;
}

Status can_be_pooled(const std::vector<NamedRecord>& records) {
  Comparison all{.records = records};
  const auto differences = record_differences(all);
  if (!differences.empty())
    return usage_error(fmt::format("--group: {} and the others are not of one configuration: {} is {}",
                                   printable(records[0].name), differences[0].what,
                                   fmt::join(differences[0].values, ", ")));
  for (const NamedRecord& named : records) {
    if (of_attach(named.record))
      return usage_error(printable(named.name) + ": a record of attach has no repetitions to pool");
    for (const Row& row : named.record.rows)
      if (!row.error && !without_probes(row))
        return Error{printable(named.name) +
                     ": --group pools repetitions without probes, and there are none; "
                     "run with --probes paired or off"};
  }
  return {};
}

// The farthest that two sessions of a row are apart, as a noise floor is: 1.25 and 0.8 both are 0.25.
double between_sessions(const std::vector<std::vector<double>>& sessions) {
  double most = 0;
  for (std::size_t i = 0; i < sessions.size(); ++i)
    for (std::size_t j = i + 1; j < sessions.size(); ++j)
      if (auto ratio = ratio_interval(sessions[i], sessions[j]); ratio.median)
        most = std::max(most, std::max(*ratio.median, 1 / *ratio.median) - 1);
  return most;
}

}

Result<NamedRecord> pool(std::vector<NamedRecord> records) {
  if (auto possible = can_be_pooled(records); !possible) return possible.error();
  NamedRecord pooled = records[0];
  std::vector<double> floors;
  for (Row& row : pooled.record.rows) {
    std::vector<std::vector<double>> sessions{throughputs(row)};
    for (std::size_t i = 1; i < records.size() && !row.error; ++i)
      if (const Row* more = same_row(records[i].record, row)) {
        sessions.push_back(throughputs(*more));
        const auto& reps = more->untraced->reps;
        row.untraced->reps.insert(row.untraced->reps.end(), reps.begin(), reps.end());
        (void)row.untraced->lat_ns.merge(more->untraced->lat_ns);  // of one layout, as one program wrote both
      }
    floors.push_back(between_sessions(sessions));
  }
  for (std::size_t i = 1; i < records.size(); ++i) {
    pooled.name += "+" + records[i].name;
    pooled.record.partial |= records[i].record.partial;
    pooled.more_sessions.push_back(records[i].record.started);
  }
  summarise(pooled.record);
  for (std::size_t i = 0; i < floors.size(); ++i) {
    auto& floor = pooled.record.rows[i].noise_floor_ratio;
    if (records.size() > 1) floor = std::max(floor.value_or(0), floors[i]);
  }
  return pooled;
}

}
