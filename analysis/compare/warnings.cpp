// What makes a comparison of records unfair.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/compare/fairness.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

// A device that delivers this much more or less, at best, is another one for practical purposes.
constexpr double kOtherCeiling = 0.1;
// Memory limits are shares of the file, rounded to pages.
constexpr double kOtherShareOfMemory = 0.01;

using Warnings = std::vector<std::string>;

std::string bytes(std::uint64_t n) {
  return human_bytes(static_cast<double>(n));
}

// ---- of one record ----

void warn_of_one(Warnings& out, const RunRecord& record, const std::string& name) {
  if (emulated(record.host))
    out.push_back(fmt::format(
        "{} ran on an emulated processor: its times are no times of any machine; no verdict stands on them, "
        "only counts count.",
        name));
  if (record.partial)
    out.push_back(fmt::format("{} is partial: it was interrupted, and rows have fewer repetitions.", name));

  std::map<std::string, Count> lost;
  for (const Row& row : record.rows)
    for (const ProbeStatus& probe : row.probes)
      if (probe.lost > 0) lost[printable(probe.name)] += probe.lost;
  for (const auto& [probe, events] : lost)
    out.push_back(fmt::format("{} lost {} of {}: those of its counters are too low.", name,
                              counted(events, "event"), probe));
  for (const Finding& finding : record.findings)
    if (finding.id == "host-cache") {
      out.push_back(fmt::format("{} found a cache below its machine: its cold rows may not be of the disk. "
                                "[host-cache]",
                                name));
      break;
    }
}

// ---- of two ----

// Every repetition took the same time: nobody measures that twice.
bool same_run(const RunRecord& a, const RunRecord& b) {
  return a.started == b.started && a.seed == b.seed &&
         std::ranges::equal(a.rows, b.rows, [](const Row& x, const Row& y) {
           return x.strategy == y.strategy && throughputs(x) == throughputs(y);
         });
}

// How each probe counted, over all rows: "tp_btf", "not attached"; empty: it was not asked for.
std::map<std::string, std::string> probe_ways(const RunRecord& record) {
  std::map<std::string, std::set<std::string>> ways;
  for (const Row& row : record.rows)
    for (const ProbeStatus& probe : row.probes)
      ways[printable(probe.name)].insert(printable(probe.variant.value_or("not attached")));
  std::map<std::string, std::string> joined;
  for (const auto& [name, variants] : ways) joined[name] = fmt::format("{}", fmt::join(variants, " or "));
  return joined;
}

void warn_of_probes(Warnings& out, const RunRecord& a, const RunRecord& b, const std::string& other) {
  auto ways = probe_ways(a), others = probe_ways(b);
  if (ways.empty() && others.empty()) return;
  if (ways.empty() || others.empty()) {
    out.push_back(fmt::format("{} ran without probes: there are no counters to explain a difference.",
                              ways.empty() ? "A" : other));
    return;
  }
  std::vector<std::string> unlike;
  for (const auto& [name, way] : others) ways.try_emplace(name, "absent");
  for (const auto& [name, way] : ways) {
    auto found = others.find(name);
    const std::string there = found == others.end() ? "absent" : found->second;
    if (way != there) unlike.push_back(fmt::format("{} ({} in A, {} in {})", name, way, there, other));
  }
  if (!unlike.empty())
    out.push_back(fmt::format("other probes: {}: what they count may differ, and so does their cost.",
                              fmt::join(unlike, ", ")));
}

double best_ceiling(const RunRecord& record) {
  return bandwidth_ceiling(record).value_or(0);
}

// Memory limit of each case as a share of the file.
std::map<std::string, double> memory_shares(const RunRecord& record) {
  std::map<std::string, double> shares;
  for (const Row& row : record.rows)
    if (row.cell.memory_limit_bytes && record.file.size_bytes > 0 && !row.cell.memory_of_file_ratio)
      shares[printable(row.case_name)] =
          static_cast<double>(*row.cell.memory_limit_bytes) / static_cast<double>(record.file.size_bytes);
  return shares;
}

void warn_of_memory(Warnings& out, const RunRecord& a, const RunRecord& b, const std::string& other) {
  const auto shares = memory_shares(a), others = memory_shares(b);
  for (const auto& [name, share] : shares)
    if (auto found = others.find(name);
        found != others.end() && std::abs(found->second - share) > kOtherShareOfMemory)
      out.push_back(fmt::format("other memory: in case {} the reader had {} of the file in A, {} in {}.",
                                name, percent(share), percent(found->second), other));
  if (a.options.ramhog != b.options.ramhog)
    out.push_back(fmt::format("memory was limited by pinning the rest in {}, by a cgroup in the other.",
                              a.options.ramhog ? "A" : other));
}

void warn_of_plan(Warnings& out, const RunRecord& a, const RunRecord& b, const std::string& other) {
  if (a.seed != b.seed)
    out.push_back(fmt::format("other seed: {} in A, {} in {}: other places of the file were read.", a.seed,
                              b.seed, other));
  auto length = [](const RunRecord& r) {
    return r.options.ops ? counted(*r.options.ops, "op") : human_ns(r.options.duration_s * 1e9);
  };
  if (length(a) != length(b))
    out.push_back(fmt::format("other repetitions: at most {} in A, {} in {}: a cold file warms up with time.",
                              length(a), length(b), other));
}

std::pair<std::string, std::string> first_and_last(const NamedRecord& named) {
  std::vector<std::string> began = named.more_sessions;
  began.push_back(named.record.started);
  auto [first, last] = std::ranges::minmax(began);
  return {first, last};
}

// Sessions of each began between those of the other. (ISO 8601 sorts as it reads.)
bool in_turns(const NamedRecord& a, const NamedRecord& b) {
  const auto [first, last] = first_and_last(a);
  const auto [first_there, last_there] = first_and_last(b);
  return first < last_there && first_there < last;
}

void warn_of_two(Warnings& out, const NamedRecord& named, const NamedRecord& named_other,
                 const std::string& other) {
  const RunRecord &a = named.record, &b = named_other.record;
  if (same_run(a, b)) {
    out.push_back(fmt::format("A and {} are one and the same run.", other));
    return;
  }
  if (a.file.size_bytes != b.file.size_bytes)
    out.push_back(fmt::format("other file size: {} in A, {} in {}.", bytes(a.file.size_bytes),
                              bytes(b.file.size_bytes), other));
  warn_of_memory(out, a, b, other);
  warn_of_plan(out, a, b, other);
  warn_of_probes(out, a, b, other);
  const double ceiling = best_ceiling(a), there = best_ceiling(b);
  if (ceiling > 0 && there > 0 && std::abs(there / ceiling - 1) > kOtherCeiling)
    out.push_back(fmt::format(
        "another device, or one that others were using: past the cache it delivered {} MB/s at best in A, {} "
        "in {}.",
        megabytes_per_s(ceiling), megabytes_per_s(there), other));
  if (in_turns(named, named_other)) return;
  out.push_back(fmt::format(
      "not interleaved: A ({}) and {} ({}) are runs of their own, so that what drifts from one to the next "
      "looks like a difference; run each again in turns and pool them: --group a1,a2 --group b1,b2.",
      printable(a.started), other, printable(b.started)));
}

// ---- of all ----

void warn_of_noise(Warnings& out, const Comparison& all) {
  std::uint32_t below = 0, unknown = 0, judged = 0;
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      for (const Difference& difference : cell.against) {
        if (!difference.p_adjusted) continue;
        ++judged;
        below += difference.reason.starts_with("within the noise floor");
        unknown += !all.row(cell.base).noise_floor_ratio && !all.row(difference.place).noise_floor_ratio;
      }
  if (below > 0)
    out.push_back(fmt::format(
        "{} of {} differences are below the noise floor (A/A, or between sessions): none is called one.",
        below, judged));
  if (unknown > 0)
    out.push_back(fmt::format(
        "the A/A noise floor of {} of {} cells is unknown: no strategy ran twice there.", unknown, judged));
}

}

std::vector<std::string> fairness_warnings(const Comparison& all) {
  Warnings out;
  for (std::uint32_t i = 0; i < all.records.size(); ++i)
    warn_of_one(out, all.records[i].record, all.within() ? "the record" : letter_of(i));
  for (std::uint32_t i = 1; i < all.records.size(); ++i)
    warn_of_two(out, all.records[0], all.records[i], letter_of(i));
  warn_of_noise(out, all);
  return out;
}

}
