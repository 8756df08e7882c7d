#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::wording {

std::vector<std::string> host_facts(const Host& host) {
  std::vector<std::string> facts{
      fmt::format("Linux {} {}", printable(host.kernel), printable(host.machine)),
      fmt::format("{} ({})", counted(host.cpus, "CPU"), printable(host.cpu)),
      human_bytes(static_cast<double>(host.memory_bytes)) + " memory",
      host.swap_bytes == 0 ? "no swap" : human_bytes(static_cast<double>(host.swap_bytes)) + " swap",
      human_bytes(static_cast<double>(host.page_size_bytes)) + " pages"};
  if (host.per_vma_locks) facts.push_back(*host.per_vma_locks ? "per-VMA locks" : "no per-VMA locks");
  if (host.virtualisation && *host.virtualisation != "none") facts.push_back(printable(*host.virtualisation));
  return facts;
}

std::string emulation_note(const Host& host) {
  if (!emulated(host)) return {};
  return "The processor is emulated (QEMU's TCG): counts hold, timings don't.";
}

std::vector<std::string> file_facts(const FileFacts& file) {
  std::vector<std::string> facts{printable(file.path) + (file.scratch ? " (scratch)" : ""),
                                 human_bytes(static_cast<double>(file.size_bytes)),
                                 fmt::format("{} on {}", printable(file.fs), printable(file.device)),
                                 file.read_ahead_bytes
                                     ? "effective read-ahead " +
                                           human_bytes(static_cast<double>(*file.read_ahead_bytes))
                                     : "effective read-ahead unknown"};
  if (file.scheduler) facts.push_back("scheduler " + printable(*file.scheduler));
  return facts;
}

std::vector<std::string> plan_facts(const Options& options) {
  std::string length = options.ops ? counted(*options.ops, "op") : human_ns(options.duration_s * 1e9);
  std::vector<std::string> facts{
      fmt::format("{} without probes and {} with them per row, at most {} each",
                  counted(options.reps, "repetition"), options.traced_reps, length),
      options.align_bytes == 1
          ? "offsets at any byte"
          : "offsets at multiples of " + human_bytes(static_cast<double>(options.align_bytes))};
  if (!options.user.empty()) facts.push_back("read as " + printable(options.user));
  return facts;
}

std::string dear_pass_words(const RunRecord& record) {
  std::optional<double> least, most;
  for (const Row& row : record.rows)
    if (row.dear_cost_ratio && row.dear_cost_ratio->median) {
      least = std::min(least.value_or(*row.dear_cost_ratio->median), *row.dear_cost_ratio->median);
      most = std::max(most.value_or(*row.dear_cost_ratio->median), *row.dear_cost_ratio->median);
    }
  if (!least) return {};
  return fmt::format(
      "faults, mmap_lock and waits are of repetitions of their own, of the same operations, at {} to {} "
      "of the speed of the other traced ones: mmap_lock's events are dear on this kernel",
      three_digits(*least), three_digits(*most));
}

std::vector<std::string> ceiling_facts(const RunRecord& record) {
  std::map<std::uint64_t, CeilingPoint> best;
  for (const CeilingPoint& point : record.ceiling.value_or(std::vector<CeilingPoint>()))
    if (point.bw_bytes > best[point.request_bytes].bw_bytes) best[point.request_bytes] = point;
  std::vector<std::string> facts;
  for (const auto& [size, point] : best)
    facts.push_back(fmt::format("{} reads {} MB/s ({:.0f} reads/s at queue depth {})",
                                human_bytes(static_cast<double>(size)), megabytes_per_s(point.bw_bytes),
                                point.iops, point.queue_depth));
  return facts;
}

namespace {

// "tp_btf+perf" for "tp_btf+perf+tp_btf": how a probe is attached, without which event is hooked how.
std::string each_way_once(const std::string& variants) {
  std::vector<std::string> ways;
  std::istringstream parts(variants);
  for (std::string way; std::getline(parts, way, '+');)
    if (std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
  return fmt::format("{}", fmt::join(ways, "+"));
}

}

std::vector<std::string> probe_facts(const RunRecord& record) {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> probes;  // variants, reasons
  for (const Row& row : record.rows)
    for (const ProbeStatus& probe : row.probes) {
      auto& [variants, reasons] = probes[printable(probe.name)];
      if (probe.variant)
        variants.insert(printable(each_way_once(*probe.variant)));
      else
        reasons.insert(printable(probe.reason.value_or("no reason recorded")));
    }
  std::vector<std::string> facts;
  for (const auto& [name, use] : probes) {
    const auto& [variants, reasons] = use;
    if (!variants.empty()) facts.push_back(fmt::format("{} ({})", name, fmt::join(variants, " or ")));
    if (!reasons.empty()) facts.push_back(fmt::format("{} not attached: {}", name, fmt::join(reasons, "; ")));
  }
  return facts;
}

}
