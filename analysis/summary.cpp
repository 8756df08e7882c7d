#include "analysis/summary.h"

#include <algorithm>
#include <cmath>

#include "analysis/comparison.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

void summarise(std::optional<Measurement>& measurement, const Row& row) {
  if (!measurement) return;
  measurement->ops_per_ms = median_interval(ops_per_ms(*measurement));
  if (measurement->ops_per_ms.median)
    measurement->bw_bytes = *measurement->ops_per_ms.median * 1000.0 * row.reads_per_op *
                            static_cast<double>(row.read_size_bytes);
}

// A row drifted when at least half of the repetitions that its throughput stands on did: a single unlucky
// one moves no median.
bool mostly_drifted(const Row& row) {
  const auto& measurement = row.untraced ? row.untraced : row.traced;
  if (!measurement || measurement->reps.empty()) return false;
  auto count = std::ranges::count_if(measurement->reps, &Repetition::drifted);
  return 2 * static_cast<std::size_t>(count) >= measurement->reps.size();
}

// Bytes per second that the device delivered in the row's windows.
std::optional<double> device_rate(const Row& row) {
  const auto& measured = counted_measurement(row);
  if (!row.device_bytes || !measured) return std::nullopt;
  double seconds = 0;
  for (const Repetition& rep : measured->reps) seconds += rep.seconds;
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(*row.device_bytes) / seconds;
}

}

std::vector<double> ops_per_ms(const Measurement& measurement) {
  std::vector<double> rates;
  for (const Repetition& rep : measurement.reps)
    if (rep.seconds > 0) rates.push_back(static_cast<double>(rep.ops) / rep.seconds / 1000.0);
  return rates;
}

void summarise(RunRecord& record) {
  const std::optional<double> ceiling = bandwidth_ceiling(record);
  for (Row& row : record.rows) {
    if (auto rate = device_rate(row); rate && ceiling) row.ceiling_ratio = *rate / *ceiling;
    summarise(row.untraced, row);
    summarise(row.traced, row);
    row.drifted = mostly_drifted(row);
    if (open_loop(row))
      row.unavailable["observer_cost_ratio"] = "in an open loop throughput is what was asked for";
    else if (row.untraced && row.traced)
      row.observer_cost_ratio = ratio_interval(ops_per_ms(*row.untraced), ops_per_ms(*row.traced));
    if (row.fio && row.fio->iops > 0)
      if (const Measurement* speed = throughput_measurement(row); speed && speed->ops_per_ms.median)
        row.fio->ratio = *speed->ops_per_ms.median * 1000 * row.reads_per_op / row.fio->iops;
    if (row.dear_pass && row.traced) {
      summarise(row.dear_pass, row);
      row.dear_cost_ratio = ratio_interval(ops_per_ms(*row.traced), ops_per_ms(*row.dear_pass));
    }
    if (row.device_bytes && row.requested_bytes)
      row.amplification_ratio =
          static_cast<double>(*row.device_bytes) / static_cast<double>(row.requested_bytes);
  }
  for (const Row& control : record.rows) {
    if (open_loop(control) || !control.control || !control.untraced || control.error || control.drifted)
      continue;
    for (const Row& original : record.rows) {
      if (original.control || original.strategy != control.strategy || !same_cell(original, control))
        continue;
      if (!original.untraced || original.error || original.drifted) continue;
      auto ratio = ratio_interval(ops_per_ms(*original.untraced), ops_per_ms(*control.untraced));
      if (!ratio.median) continue;
      for (Row& row : record.rows)
        if (same_cell(row, control)) row.noise_floor_ratio = std::abs(*ratio.median - 1.0);
    }
  }
}

}
