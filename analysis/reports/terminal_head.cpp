#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/text.h"

namespace iotrace::terminal {

namespace {

constexpr std::size_t kLabelWidth = 6;  // "host  "

std::string fact_line(std::string_view label, const std::vector<std::string>& facts) {
  return note(fmt::format("{:<{}}{}", label, kLabelWidth, fmt::join(facts, ", ")), kLabelWidth);
}

std::string host_line(const Host& host) {
  std::vector<std::string> facts{
      fmt::format("Linux {} {}", printable(host.kernel), printable(host.machine)),
      fmt::format("{} ({})", counted(host.cpus, "CPU"), printable(host.cpu)),
      human_bytes(static_cast<double>(host.memory_bytes)) + " memory",
      host.swap_bytes == 0 ? "no swap" : human_bytes(static_cast<double>(host.swap_bytes)) + " swap",
      human_bytes(static_cast<double>(host.page_size_bytes)) + " pages"};
  if (host.per_vma_locks) facts.push_back(*host.per_vma_locks ? "per-VMA locks" : "no per-VMA locks");
  if (host.virtualisation && *host.virtualisation != "none") facts.push_back(printable(*host.virtualisation));
  return fact_line("host", facts);
}

std::string file_line(const FileFacts& file) {
  std::vector<std::string> facts{printable(file.path) + (file.scratch ? " (scratch)" : ""),
                                 human_bytes(static_cast<double>(file.size_bytes)),
                                 fmt::format("{} on {}", printable(file.fs), printable(file.device)),
                                 file.read_ahead_bytes
                                     ? "effective read-ahead " +
                                           human_bytes(static_cast<double>(*file.read_ahead_bytes))
                                     : "effective read-ahead unknown"};
  if (file.scheduler) facts.push_back("scheduler " + printable(*file.scheduler));
  return fact_line("file", facts);
}

std::string plan_line(const Options& options) {
  std::string length = options.ops ? counted(*options.ops, "op") : human_ns(options.duration_s * 1e9);
  std::vector<std::string> facts{
      fmt::format("{} without probes and {} with them per row, at most {} each",
                  counted(options.reps, "repetition"), options.traced_reps, length),
      options.align_bytes == 1
          ? "offsets at any byte"
          : "offsets at multiples of " + human_bytes(static_cast<double>(options.align_bytes))};
  if (!options.user.empty()) facts.push_back("read as " + printable(options.user));
  return fact_line("plan", facts);
}

// "0 %", or "1.2 to 14 %"-like where repetitions differ
std::string residency_range(const std::vector<double>& ratios) {
  if (ratios.empty()) return "unknown";
  auto [least, most] = std::ranges::minmax(ratios);
  std::string low = percent(least), high = percent(most);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

}

std::string head(const RunRecord& record, const ReportOptions& options) {
  std::string title = fmt::format("iotrace {} {}, {}, seed {}", printable(record.iotrace),
                                  printable(record.command), printable(record.started), record.seed);
  std::string out = styled(title, Style::kHeading, options.colour) + '\n';
  if (record.partial)
    out += styled("PARTIAL: the run was interrupted; this is what it had measured by then.", Style::kCaution,
                  options.colour) +
           '\n';
  return out + host_line(record.host) + file_line(record.file) + plan_line(record.options);
}

std::string group_heading(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  const Row& row = record.rows[group.rows.front()];
  const Cell& cell = row.cell;
  auto bytes = [](std::uint64_t n) { return human_bytes(static_cast<double>(n)); };
  std::string title = fmt::format("{}, {}, {} x {} per op", printable(row.case_name), printable(row.pattern),
                                  bytes(row.read_size_bytes), counted(row.reads_per_op, "read"));
  if (cell.memory_limit_bytes) title += ", memory limit " + bytes(*cell.memory_limit_bytes);
  if (cell.pace != "closed")
    title += fmt::format(", {} loop{}", printable(cell.pace),
                         cell.rate ? fmt::format(" at {} ops/s", three_digits(*cell.rate)) : "");
  if (cell.compute_ns > 0)
    title += fmt::format(", {} of work per op", human_ns(static_cast<double>(cell.compute_ns)));
  if (cell.hot_size_bytes) title += ", hot part " + bytes(*cell.hot_size_bytes);
  if (cell.cold_pct) title += fmt::format(", {} % of reads outside it", three_digits(*cell.cold_pct));
  if (cell.zipf_theta) title += ", theta " + three_digits(*cell.zipf_theta);
  if (cell.stride_bytes) title += ", stride " + bytes(*cell.stride_bytes);
  if (cell.write_pct > 0) title += fmt::format(", {} % writes", three_digits(cell.write_pct));
  if (cell.mmap_churn > 0)
    title += fmt::format(", {} mmap/munmap per s beside it", three_digits(cell.mmap_churn));

  std::vector<double> before, after;
  for (std::uint32_t index : group.rows)
    for (const auto& measurement : {record.rows[index].untraced, record.rows[index].traced}) {
      if (!measurement || record.rows[index].error) continue;
      for (const Repetition& rep : measurement->reps) {
        if (rep.residency_before_ratio) before.push_back(*rep.residency_before_ratio);
        if (rep.residency_after_ratio) after.push_back(*rep.residency_after_ratio);
      }
    }
  return styled(wrap(title, kTerminalWidth, 2), Style::kHeading, options.colour) + '\n' +
         note(fmt::format("part of the file in the cache, over all repetitions: before {}, after {}",
                          residency_range(before), residency_range(after)));
}

}
