#include "userspace/controller/plan.h"

#include <algorithm>
#include <random>

#include "userspace/cli/nearest.h"
#include "userspace/controller/cells.h"

namespace iotrace {

namespace {

template<typename Entry>
Result<std::vector<const Entry*>> resolve(const std::vector<std::string>& names,
                                          std::span<const Entry> registry, std::string_view kind) {
  std::vector<const Entry*> found;
  for (const std::string& name : names) {
    auto at = std::ranges::find(registry, name, &Entry::name);
    if (at == registry.end()) {
      std::vector<std::string_view> known;
      for (const Entry& entry : registry) known.push_back(entry.name);
      return unknown_name(kind, name, known);
    }
    found.push_back(&*at);
  }
  return found;
}

// The strategy that runs twice: pread if it is there, since it drifts least, else the first honest one.
const Strategy* control_of(const std::vector<const Strategy*>& chosen) {
  for (const Strategy* s : chosen)
    if (s->name == "pread") return s;
  for (const Strategy* s : chosen)
    if (!s->specimen) return s;
  return chosen.front();
}

// Rows from `first` on, those with the same step of a memory sweep together, in order of appearance.
std::vector<std::vector<std::size_t>> by_memory(const std::vector<PlannedRow>& rows, std::size_t first) {
  std::vector<std::vector<std::size_t>> steps;
  for (std::size_t row = first; row < rows.size(); ++row) {
    auto same = std::ranges::find(steps, rows[row].cell.memory_of_file_ratio, [&](const auto& step) {
      return rows[step.front()].cell.memory_of_file_ratio;
    });
    if (same == steps.end()) same = steps.insert(steps.end(), std::vector<std::size_t>{});
    same->push_back(row);
  }
  return steps;
}

void add_rounds(Plan& plan, const Options& options, std::vector<std::size_t>& order,
                std::mt19937_64& shuffler) {
  for (std::uint32_t round = 0; round < std::max(options.reps, options.traced_reps); ++round) {
    std::ranges::shuffle(order, shuffler);
    for (std::size_t row : order) {
      bool traced = round < options.traced_reps && !plan.rows[row].control;
      bool untraced = round < options.reps;
      bool traced_first = traced && untraced && (shuffler() & 1u);
      if (traced_first) plan.repetitions.push_back({row, true, round});
      if (untraced) plan.repetitions.push_back({row, false, round});
      if (traced && !traced_first) plan.repetitions.push_back({row, true, round});
    }
  }
}

// The rows of one table, and their repetitions.
Status add_table(Plan& plan, const Options& options, std::mt19937_64& shuffler) {
  auto strategies_chosen = resolve(options.strategies, strategies(), "strategy");
  if (!strategies_chosen) return strategies_chosen.error();
  auto cases_chosen = resolve(options.cases, cases(), "case");
  if (!cases_chosen) return cases_chosen.error();
  auto patterns_chosen = resolve(options.patterns, patterns(), "pattern");
  if (!patterns_chosen) return patterns_chosen.error();

  for (const Case* cache_case : *cases_chosen) {
    const std::size_t first = plan.rows.size();
    for (const Pattern* pattern : *patterns_chosen)
      for (const Cell& cell : cells(options, *pattern))
        for (std::uint64_t read_size : options.read_size_bytes)
          for (std::uint32_t threads : options.threads) {
            PlannedRow row{.cache_case = cache_case,
                           .pattern = pattern,
                           .threads = threads,
                           .read_size_bytes = read_size,
                           .reads_per_op = options.reads_per_op,
                           .cell = cell};
            for (const Strategy* strategy : *strategies_chosen) {
              if (strategy->sequential_only && pattern->name != "sequential")
                return usage_error(std::string(strategy->name) +
                                   " reads in order only; add --pattern sequential");
              row.strategy = strategy;
              plan.rows.push_back(row);
            }
            if (options.reps > 0) {
              row.strategy = control_of(*strategies_chosen);
              row.control = true;
              plan.rows.push_back(row);
            }
          }
    for (std::vector<std::size_t>& order : by_memory(plan.rows, first))
      add_rounds(plan, options, order, shuffler);
  }
  return {};
}

}

Result<Plan> make_plan(std::span<const Options> tables, std::uint64_t seed) {
  Plan plan;
  std::mt19937_64 shuffler(seed);
  for (const Options& table : tables)
    if (Status added = add_table(plan, table, shuffler); !added) return added.error();
  return plan;
}

}
