// A memory sweep at a glance: one column per step, so that the cliff can be seen.

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/format.h"
#include "analysis/memory_sweep.h"
#include "analysis/reports/wording.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

std::string sweep_name(const RunRecord& record, const Row& row) {
  std::string name = row_name(row);
  if (record.options.patterns.size() > 1) name += ' ' + printable(row.pattern);
  if (record.options.read_size_bytes.size() > 1)
    name += ' ' + human_bytes(static_cast<double>(row.read_size_bytes));
  return name + ' ' + threads_name(row.threads);
}

std::string speed_of(const Row& row) {
  if (row.error) return "error";
  const Measurement* measurement = throughput_measurement(row);
  return measurement && measurement->ops_per_ms.median ? three_digits(*measurement->ops_per_ms.median)
                                                       : std::string(kNotAvailable);
}

// The whole file was read once before, so what comes into the cache had been there.
std::string read_again(const Row& row) {
  const double ops = ops_of(row.traced);
  if (row.error || !row.page_cache || !row.page_cache->added_pages || ops <= 0)
    return std::string(kNotAvailable);
  return three_digits(static_cast<double>(*row.page_cache->added_pages) / ops);
}

// All steps of the record, from much memory to little.
std::vector<double> steps_of(const RunRecord& record, const std::vector<MemorySweep>& sweeps) {
  std::vector<double> steps;
  for (const MemorySweep& sweep : sweeps)
    for (std::uint32_t index : sweep) steps.push_back(*record.rows[index].cell.memory_of_file_ratio);
  std::ranges::sort(steps, std::greater());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}

std::optional<ResponseTable> sweep_table(const RunRecord& record) {
  const std::vector<MemorySweep> sweeps = memory_sweeps(record);
  if (sweeps.empty()) return std::nullopt;
  ResponseTable table{.heading =
                          "memory sweep: ops/ms, and pages read again per op, by the memory limit as a "
                          "share of the file",
                      .columns = {"strategy", ""}};
  const std::vector<double> steps = steps_of(record, sweeps);
  for (double step : steps) table.columns.push_back(percent(step));
  for (const MemorySweep& sweep : sweeps) {
    std::vector<std::string> speeds{sweep_name(record, record.rows[sweep.front()]), "ops/ms"};
    std::vector<std::string> refaults{"", "pages/op"};
    for (double step : steps) {
      auto at = std::ranges::find(sweep, std::optional(step), [&](std::uint32_t index) {
        return record.rows[index].cell.memory_of_file_ratio;
      });
      speeds.push_back(at == sweep.end() ? std::string(kNotAvailable) : speed_of(record.rows[*at]));
      refaults.push_back(at == sweep.end() ? std::string(kNotAvailable) : read_again(record.rows[*at]));
    }
    table.lines.push_back(std::move(speeds));
    table.lines.push_back(std::move(refaults));
  }
  return table;
}

}
