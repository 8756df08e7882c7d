// Rows of a benchmark as gauges: a run that a timer repeats becomes a line over kernels and settings. Rows
// that carry no verdict (drifted, failed) give no number, only their count.

#include <set>

#include <fmt/format.h>

#include "analysis/reports/openmetrics_parts.h"

namespace iotrace {

namespace {

// What tells rows of equal names apart: "rate=500 compute_ns=5000".
std::string cell_text(const Cell& cell) {
  std::string text;
  auto part = [&](const char* name, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  };
  auto known = [&](const char* name, const auto& value) {
    if (value) part(name, *value);
  };
  if (cell.rate_pct)
    part("rate_pct", *cell.rate_pct);
  else
    known("rate", cell.rate);
  known("arrivals", cell.arrivals);
  if (cell.compute_ns > 0) part("compute_ns", cell.compute_ns);
  if (cell.align_bytes != 1) part("align_bytes", cell.align_bytes);
  known("hot_size_bytes", cell.hot_size_bytes);
  known("cold_pct", cell.cold_pct);
  known("zipf_theta", cell.zipf_theta);
  known("stride_bytes", cell.stride_bytes);
  if (cell.write_pct > 0) part("write_pct", cell.write_pct);
  if (cell.mmap_churn > 0) part("mmap_churn", cell.mmap_churn);
  known("memory_of_file_ratio", cell.memory_of_file_ratio);
  return text;
}

Labels labels_of(const Row& row) {
  return {{"strategy", row.strategy},
          {"case", row.case_name},
          {"pattern", row.pattern},
          {"threads", std::to_string(row.threads)},
          {"read_size_bytes", std::to_string(row.read_size_bytes)},
          {"cell", cell_text(row.cell)}};
}

std::optional<double> times(std::optional<double> value, double factor) {
  if (value) *value *= factor;
  return value;
}

std::optional<double> latency_s(const Row& row, double q) {
  if (!row.untraced) return std::nullopt;
  const std::optional<std::uint64_t> ns = row.untraced->lat_ns.percentile(q);
  return ns ? std::optional(static_cast<double>(*ns) / 1e9) : std::nullopt;
}

std::optional<double> ops(const Row& row, std::optional<double> Estimate::*of) {
  return row.untraced ? times(row.untraced->ops_per_ms.*of, 1000) : std::nullopt;
}

struct RowNumber {
  const char *metric, *help;
  std::optional<double> (*number)(const Row&);
};

constexpr RowNumber kNumbers[] = {
    {"iotrace_run_ops_per_second", "Operations a second without probes, median of the repetitions.",
     [](const Row& row) { return ops(row, &Estimate::median); }},
    {"iotrace_run_ops_per_second_low", "Lower end of its 95 % interval.",
     [](const Row& row) { return ops(row, &Estimate::low); }},
    {"iotrace_run_ops_per_second_high", "Upper end of its 95 % interval.",
     [](const Row& row) { return ops(row, &Estimate::high); }},
    {"iotrace_run_read_bytes_per_second", "Bytes asked for a second, from the median.",
     [](const Row& row) { return row.untraced ? row.untraced->bw_bytes : std::nullopt; }},
    {"iotrace_run_op_median_seconds", "Latency of an operation, median.",
     [](const Row& row) { return latency_s(row, 0.5); }},
    {"iotrace_run_op_p99_seconds", "Latency of an operation, 99th percentile.",
     [](const Row& row) { return latency_s(row, 0.99); }},
    {"iotrace_run_amplification_ratio", "Bytes that the device delivered by bytes asked for.",
     [](const Row& row) { return row.amplification_ratio; }},
    {"iotrace_run_observer_cost_ratio", "Throughput with probes by throughput without, median.",
     [](const Row& row) { return row.observer_cost_ratio ? row.observer_cost_ratio->median : std::nullopt; }},
};

}

void add_row_metrics(Exposition& metrics, const RunRecord& record) {
  std::vector<const Row*> measured;
  std::set<Labels> seen;  // a row that was measured twice (A/A, or asked for twice) is one series: the first
  Count failed = 0, drifted = 0;
  for (const Row& row : record.rows) {
    if (row.control) continue;
    if (row.error)
      ++failed;
    else if (row.drifted)
      ++drifted;
    else if (seen.insert(labels_of(row)).second)
      measured.push_back(&row);
  }
  metrics.gauge("iotrace_run_rows", "Rows of the run by what became of them.");
  metrics.sample(Count{measured.size()}, {{"state", "measured"}});
  metrics.sample(drifted, {{"state", "drifted"}});
  metrics.sample(failed, {{"state", "failed"}});
  for (const RowNumber& entry : kNumbers) {
    metrics.gauge(entry.metric, entry.help);
    for (const Row* row : measured) metrics.sample(entry.number(*row), labels_of(*row));
  }
}

}
