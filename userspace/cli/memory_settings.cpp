#include "userspace/cli/memory_settings.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "analysis/format.h"
#include "userspace/cli/parse.h"
#include "userspace/memory/host_share.h"

namespace iotrace {

namespace {

constexpr std::array<double, 9> kSteps{2.0, 1.5, 1.25, 1.12, 1.0, 0.88, 0.75, 0.5, 0.25};
constexpr double kLeastPct = 1, kMostPct = 1000;
constexpr std::string_view kSweepCase = "pressure";

// "150%" -> 1.5; nullopt if it is no such thing.
std::optional<double> share(std::string_view word) {
  double value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || std::string_view(end, word.data() + word.size()) != "%") return std::nullopt;
  return value >= kLeastPct && value <= kMostPct ? std::optional(value / 100) : std::nullopt;
}

Status take_sweep(const RunWords& words, RunSettings& settings) {
  const std::string_view word = words.memory_sweep;
  auto refuse = [&](std::string_view why) {
    return usage_error(fmt::format("--memory-sweep '{}': {}", word, why));
  };
  if (!words.memory.empty()) return refuse("sets the memory limits itself; leave out --memory");
  if (!words.cases.empty() && words.cases != kSweepCase)
    return refuse(fmt::format("brings the case '{}' with it; leave out --case", kSweepCase));
  const std::size_t colon = word.find(':');
  const auto from = share(word.substr(0, colon));
  const auto to = share(colon == word.npos ? std::string_view() : word.substr(colon + 1));
  if (!from || !to) return refuse("needs two percentages of the file from 1% to 1000%, such as 200%:25%");
  if (*from <= *to) return refuse("goes from more memory to less, such as 200%:25%");
  settings.options.memory_sweep = memory_steps(*from, *to);
  settings.options.cases = {std::string(kSweepCase)};
  return {};
}

}

void declare_memory_options(CLI::App& run, RunWords& words) {
  run.add_option(
      "--memory", words.memory,
      "Memory limit of the reader (cold, half-cold: half the file; pressure: 29/32 of it; else none)");
  run.add_option(
      "--memory-sweep", words.memory_sweep,
      "Find the cliff: memory limits from:to in percent of the file, such as 200%:25%; the whole file is "
      "read once under each");
  run.add_flag(
      "--ramhog", words.ramhog,
      "Limit memory by pinning the rest of this machine's, not by a cgroup (always leaves 1 GiB or 10 %)");
}

std::vector<double> memory_steps(double from, double to) {
  std::vector<double> steps{from};
  for (double step : kSteps)
    if (step < from && step > to) steps.push_back(step);
  steps.push_back(to);
  return steps;
}

Status take_memory(const RunWords& words, RunSettings& settings) {
  Options& options = settings.options;
  options.ramhog = words.ramhog;
  if (!words.memory.empty()) {
    auto memory = parse_size("--memory", words.memory);
    if (!memory) return memory.error();
    options.memory_bytes = *memory;
  }
  return words.memory_sweep.empty() ? Status() : take_sweep(words, settings);
}

Status check_memory(const RunSettings& settings, const Plan& plan, std::uint64_t file_bytes) {
  if (!settings.options.memory_bytes) return {};
  const std::uint64_t limit = *settings.options.memory_bytes;
  const std::string what = fmt::format("--memory {}", human_bytes(static_cast<double>(limit)));
  for (const PlannedRow& row : plan.rows) {
    if (row.cache_case->start == Case::Start::kFilledInside)
      return usage_error(fmt::format("{}: the case '{}' is made of a limit of its own; leave out one of them",
                                     what, row.cache_case->name));
    if (row.cache_case->residency_stays && limit <= file_bytes)
      return usage_error(
          fmt::format("{} is not larger than the file ({} bytes), but case '{}' needs all of it cached; "
                      "leave out that case or the limit",
                      what, file_bytes, row.cache_case->name));
  }
  auto host = host_memory();
  return host ? leaves_host_enough(what, limit, host->total_bytes) : Status();
}

}
