#include "userspace/controller/measure.h"

#include <memory>

#include <fmt/format.h>

#include "userspace/controller/capacity.h"
#include "userspace/controller/case_memory.h"
#include "userspace/controller/fio.h"
#include "userspace/controller/interrupt.h"
#include "userspace/controller/row_builder.h"

namespace iotrace {

namespace {

// A repetition during which the file stayed the same. A changed file explains whatever else went wrong.
Result<RepetitionResult> repeat(const RunContext& run, const FileWatch* watch, const PlannedRow& row,
                                const PlannedRepetition& planned, const MemoryCgroup* cgroup) {
  auto unchanged = [&] { return watch ? watch->unchanged() : Status(); };
  if (Status same = unchanged(); !same) return same.error();
  auto result = run_repetition(run, row, planned, cgroup);
  if (Status same = unchanged(); !same)
    return result ? same.error()
                  : Error{fmt::format("{} ({})", same.error().message, result.error().message)};
  return result;
}

std::string describe(const PlannedRow& row, const PlannedRepetition& planned) {
  return fmt::format("{} {} T{:02}{}", row.cache_case->name, row.strategy->name, row.threads,
                     planned.traced ? " traced" : "");
}

}

Measured measure(const RunContext& run, const FileWatch* watch, const Plan& plan, Progress& progress) {
  Measured measured;
  std::vector<RowBuilder> builders;
  for (const PlannedRow& row : plan.rows) builders.emplace_back(row);

  std::vector<std::size_t> last_of_row(plan.rows.size());
  for (std::size_t i = 0; i < plan.repetitions.size(); ++i) last_of_row[plan.repetitions[i].row] = i;

  progress.phase("measuring", plan.repetitions.size());
  std::unique_ptr<CaseMemory> memory;
  Capacities capacities;
  for (std::size_t i = 0; i < plan.repetitions.size(); ++i) {
    const PlannedRepetition& planned = plan.repetitions[i];
    PlannedRow row = plan.rows[planned.row];
    RowBuilder& builder = builders[planned.row];
    if (interrupted()) break;
    if (builder.failed()) continue;
    progress.show(i, describe(row, planned));
    if (!memory || !memory->is_for(row)) {
      memory.reset();
      memory = std::make_unique<CaseMemory>(row, run);
      run.cache->limited_by(memory->limit_bytes(), memory->group());
      for (std::size_t other = 0; other < plan.rows.size(); ++other)
        if (memory->is_for(plan.rows[other])) {
          builders[other].set_memory(memory->limit_bytes(), memory->reason());
          if (memory->failure() && !interrupted()) builders[other].fail(*memory->failure());
        }
    }
    if (builder.failed() || interrupted()) continue;
    if (row.cell.rate_pct) {
      auto capacity = capacities.ops_per_s(row, [&](const PlannedRow& closed, const PlannedRepetition& once) {
        return repeat(run, watch, closed, once, memory->group());
      });
      if (!capacity) {
        if (!interrupted()) builder.fail(capacity.error().message);
        continue;
      }
      row.cell.rate = *row.cell.rate_pct / 100 * *capacity;
      builder.set_rate(*row.cell.rate);
    }
    auto result = repeat(run, watch, row, planned, memory->group());
    if (result)
      builder.add(*result, planned.traced);
    else if (!interrupted())
      builder.fail(result.error().message);
    if (result && planned.traced && run.probes->has_dear_hook() && result->repetition.ops > 0) {
      PlannedRepetition again = planned;
      again.dear_pass_ops = result->repetition.ops;
      auto dear = repeat(run, watch, row, again, memory->group());
      if (dear)
        builder.add_dear_pass(*dear);
      else if (!interrupted())
        builder.fail(dear.error().message);
    }
    if (run.fio && result && last_of_row[planned.row] == i && !row.control) {
      progress.show(i, "fio " + describe(row, planned));
      builder.set_fio(run_fio(*run.fio, run, row, memory->group()));
    }
  }
  memory.reset();
  progress.clear();

  measured.interrupted = interrupted();
  for (RowBuilder& builder : builders) measured.rows.push_back(std::move(builder).finish());
  return measured;
}

}
