#include "userspace/cli/dry_run.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/format.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/source_file.h"

namespace iotrace {

namespace {

// What a repetition takes beside its window: a fresh process, a proven state, probes. Measured with files of
// 1 GiB on a virtual machine with 2 CPUs.
constexpr double kSetupSeconds = 0.2;
// How fast a file is read in or written for its case.
constexpr double kFillBytesPerS = 1.5e9;

std::string minutes(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

double seconds_of(const Plan& plan, const Options& options, double file_bytes) {
  double seconds = 0;
  const Case* filled = nullptr;
  for (const PlannedRepetition& repetition : plan.repetitions) {
    const PlannedRow& row = plan.rows[repetition.row];
    const Case* cache_case = row.cache_case;
    seconds += options.duration_s + kSetupSeconds + (cache_case->warm_up ? options.warmup_s : 0);
    const bool once = cache_case->start == Case::Start::kFilled && cache_case != filled;
    const bool each_time = cache_case->start == Case::Start::kFilledInside && !row.strategy->bypasses_cache;
    if (once || each_time) seconds += file_bytes / kFillBytesPerS;
    filled = cache_case;
  }
  return seconds;
}

}

Status dry_run(const RunSettings& settings) {
  auto plan = make_plan(settings.tables, settings.seed);
  if (!plan) return plan.error();
  std::uint64_t file_bytes = settings.size_bytes;
  if (settings.file) {
    std::uint64_t longest = 0;
    for (std::uint64_t size : settings.options.read_size_bytes) longest = std::max(longest, size);
    auto file = open_user_file(*settings.file, longest);
    if (!file) return file.error();
    file_bytes = file->size_bytes;
  }
  const auto bytes = static_cast<double>(file_bytes);
  std::set<std::string> cases;
  double most_memory = 0;
  for (const PlannedRow& row : plan->rows) {
    cases.insert(std::string(row.cache_case->name));
    most_memory = std::max(
        most_memory, row.cell.memory_of_file_ratio.value_or(row.cache_case->memory_of_file.value_or(1)));
  }
  const auto controls = std::ranges::count_if(plan->rows, &PlannedRow::control);

  fmt::print("file     {}, {}\n", settings.file ? *settings.file : "a scratch file in the current folder",
             human_bytes(bytes));
  fmt::print("rows     {} and {} A/A controls, in {} ({})\n",
             plan->rows.size() - static_cast<std::size_t>(controls), controls, counted(cases.size(), "case"),
             fmt::join(cases, ", "));
  fmt::print("measured {}: {} without probes and {} with them per row, at most {} s each\n",
             counted(plan->repetitions.size(), "repetition"), settings.options.reps,
             settings.options.traced_reps, settings.options.duration_s);
  fmt::print("memory   up to {} for the cached file\n", human_bytes(most_memory * bytes));
  fmt::print(
      "time     about {}, an estimate{}\n",
      minutes(seconds_of(*plan, settings.options, bytes) + (settings.file ? 0 : bytes / kFillBytesPerS)),
      settings.options.ops ? "; --ops may end repetitions earlier or later" : "");
  fmt::print("seed     {}\n", settings.seed);
  return {};
}

}
