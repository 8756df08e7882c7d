#include "userspace/controller/measure.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "userspace/controller/interrupt.h"
#include "userspace/controller/row_builder.h"

namespace iotrace {

namespace {

// The worker's memory limit in a case, if it has one.
std::optional<std::uint64_t> memory_limit(const Case& cache_case, const RunContext& run) {
  if (run.options.memory_bytes) return run.options.memory_bytes;
  if (!cache_case.memory_of_file) return std::nullopt;
  const auto share =
      static_cast<std::uint64_t>(*cache_case.memory_of_file * static_cast<double>(run.file_size_bytes));
  return std::max<std::uint64_t>(share, kLeastMemoryBytes);
}

// The cgroup of one case: made when its first repetition comes, gone with the next case.
class CaseMemory {
public:
  CaseMemory(const Case& cache_case, const RunContext& run) : case_(&cache_case), guardian_(run.guardian) {
    std::optional<std::uint64_t> limit = memory_limit(cache_case, run);
    if (!limit) return;
    auto group = MemoryCgroup::make(*limit, [this](const std::string& path, const std::string& enabled_in) {
      if (guardian_) guardian_->guard_cgroup(path, enabled_in);
    });
    if (group)
      group_.emplace(std::move(*group));
    else
      reason_ = group.error().message;
  }
  ~CaseMemory() {
    group_.reset();
    if (guardian_) guardian_->clear_cgroup();
  }
  CaseMemory(const CaseMemory&) = delete;

  bool is_for(const Case& cache_case) const { return case_ == &cache_case; }
  const MemoryCgroup* group() const { return group_ ? &*group_ : nullptr; }
  const std::string& reason() const { return reason_; }

private:
  const Case* case_;
  Guardian* guardian_;
  std::optional<MemoryCgroup> group_;
  std::string reason_;
};

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
  for (const PlannedRow& row : plan.rows) builders.emplace_back(row, run.options);

  progress.phase("measuring", plan.repetitions.size());
  std::unique_ptr<CaseMemory> memory;
  for (std::size_t i = 0; i < plan.repetitions.size(); ++i) {
    const PlannedRepetition& planned = plan.repetitions[i];
    const PlannedRow& row = plan.rows[planned.row];
    RowBuilder& builder = builders[planned.row];
    if (interrupted()) break;
    if (builder.failed()) continue;
    progress.show(i, describe(row, planned));
    if (!memory || !memory->is_for(*row.cache_case)) {
      memory.reset();
      memory = std::make_unique<CaseMemory>(*row.cache_case, run);
      for (std::size_t other = 0; other < plan.rows.size(); ++other)
        if (plan.rows[other].cache_case == row.cache_case)
          builders[other].set_memory(memory->group(), memory->reason());
    }
    auto result = repeat(run, watch, row, planned, memory->group());
    if (result)
      builder.add(*result, planned.traced);
    else if (!interrupted())
      builder.fail(result.error().message);
  }
  memory.reset();
  progress.clear();

  measured.interrupted = interrupted();
  for (RowBuilder& builder : builders) measured.rows.push_back(std::move(builder).finish());
  return measured;
}

}
