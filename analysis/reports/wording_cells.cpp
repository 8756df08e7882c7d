#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

// "0 %", or "1.2 to 14 %"-like where repetitions differ
std::string residency_range(const std::vector<double>& ratios) {
  if (ratios.empty()) return "unknown";
  auto [least, most] = std::ranges::minmax(ratios);
  std::string low = percent(least), high = percent(most);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

// Each row has a capacity of its own, and so a rate.
std::string rate_words(const Cell& cell) {
  if (cell.rate_pct) return fmt::format(" at {:g} % of each row's capacity", *cell.rate_pct);
  return cell.rate ? fmt::format(" at {} ops/s", three_digits(*cell.rate)) : "";
}

}

std::string group_title(const RunRecord& record, const RowGroup& group) {
  const Row& row = record.rows[group.rows.front()];
  const Cell& cell = row.cell;
  auto bytes = [](std::uint64_t n) { return human_bytes(static_cast<double>(n)); };
  std::string title = fmt::format("{}, {}, {} x {} per op", printable(row.case_name), printable(row.pattern),
                                  bytes(row.read_size_bytes), counted(row.reads_per_op, "read"));
  if (cell.memory_limit_bytes) title += ", memory limit " + bytes(*cell.memory_limit_bytes);
  // A limit that has a reason against it is made in another way.
  if (cell.memory_limit_bytes && row.unavailable.contains("cell.memory_limit_bytes"))
    title += " left by pinning the rest";
  if (cell.memory_of_file_ratio)
    title += fmt::format(" ({} of the file)", percent(*cell.memory_of_file_ratio));
  if (cell.pace != "closed")
    title += fmt::format(", {} loop{}{}", printable(cell.pace), rate_words(cell),
                         cell.arrivals ? fmt::format(", {} arrivals", printable(*cell.arrivals)) : "");
  if (cell.compute_ns > 0)
    title +=
        fmt::format(", computing {} between hint and read", human_ns(static_cast<double>(cell.compute_ns)));
  if (cell.hot_size_bytes) title += ", hot part " + bytes(*cell.hot_size_bytes);
  if (cell.cold_pct) title += fmt::format(", {} % of reads outside it", three_digits(*cell.cold_pct));
  if (cell.zipf_theta) title += ", theta " + three_digits(*cell.zipf_theta);
  if (cell.stride_bytes) title += ", stride " + bytes(*cell.stride_bytes);
  if (cell.write_pct > 0) title += fmt::format(", {} % writes", three_digits(cell.write_pct));
  if (cell.mmap_churn > 0)
    title += fmt::format(", {} mmap/munmap per s beside it", three_digits(cell.mmap_churn));
  return title;
}

std::string residency_words(const RunRecord& record, const RowGroup& group) {
  std::vector<double> before, after;
  for (std::uint32_t index : group.rows)
    for (const auto& measurement : {record.rows[index].untraced, record.rows[index].traced}) {
      if (!measurement || record.rows[index].error) continue;
      for (const Repetition& rep : measurement->reps) {
        if (rep.residency_before_ratio) before.push_back(*rep.residency_before_ratio);
        if (rep.residency_after_ratio) after.push_back(*rep.residency_after_ratio);
      }
    }
  return fmt::format("part of the file in the cache, over all repetitions: before {}, after {}",
                     residency_range(before), residency_range(after));
}

std::string row_name(const Row& row) {
  return printable(row.strategy) + (row.control ? " (A/A)" : "");
}

std::vector<std::uint32_t> in_reading_order(const RunRecord& record, const std::vector<std::uint32_t>& rows) {
  std::vector<std::string> strategies;
  auto place = [&](const std::string& strategy) {
    return std::ranges::find(strategies, strategy) - strategies.begin();
  };
  for (std::uint32_t index : rows)
    if (place(record.rows[index].strategy) == std::ssize(strategies))
      strategies.push_back(record.rows[index].strategy);

  std::vector<std::uint32_t> ordered = rows;
  std::ranges::stable_sort(ordered, {}, [&](std::uint32_t index) {
    const Row& row = record.rows[index];
    return std::tuple(place(row.strategy), row.control, row.threads);
  });
  return ordered;
}

std::string name_rows(const RunRecord& record, const std::vector<std::uint32_t>& rows) {
  std::string names, last;
  for (std::uint32_t index : in_reading_order(record, rows)) {
    std::string name = row_name(record.rows[index]);
    if (name != last) names += (names.empty() ? "" : ", ") + name;
    names += ' ' + threads_name(record.rows[index].threads);
    last = name;
  }
  return names;
}

std::string counted_over(const RunRecord& record, const std::vector<std::uint32_t>& rows) {
  std::set<std::string> kinds;
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    if (const auto& m = counted_measurement(row); m && !m->reps.empty())
      kinds.insert(counted(m->reps.size(), "repetition") +
                   (row.counters_from == "untraced" ? " without probes" : " with probes"));
  }
  return kinds.empty() ? "no repetition" : fmt::format("{} per row", fmt::join(kinds, " or "));
}

std::string observer_samples(const RunRecord& record, const std::vector<std::uint32_t>& rows) {
  std::set<std::uint32_t> sizes;
  for (std::uint32_t index : rows)
    if (const auto& cost = record.rows[index].observer_cost_ratio; cost && cost->median)
      sizes.insert(cost->n);
  return sizes.empty() ? "" : fmt::format(", traced/untraced n = {}", fmt::join(sizes, " or "));
}

}
