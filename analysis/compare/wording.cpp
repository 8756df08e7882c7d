#include "analysis/compare/wording.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording.h"
#include "analysis/text.h"

namespace iotrace::compare_wording {

namespace {

// What stands beside this is told by the formats that hold everything.
constexpr std::size_t kMostExplained = 6;
// From here on a ratio says more than a percentage.
constexpr double kManyTimes = 10;

// Rows are named by what tells them apart within a table.
std::string name_of_row(const Comparison& all, RowPlace place) {
  const Row& row = all.row(place);
  return fmt::format("{} {}", printable(row.strategy), threads_name(row.threads));
}

std::string against(const Comparison& all, std::uint32_t record) {
  return all.within() ? "" : letter_of(record) + ": ";
}

double distance(const Difference& difference) {
  return difference.ratio.median ? std::abs(std::log(*difference.ratio.median)) : 0;
}

std::string base_name(const Comparison& all, const CellTable& table) {
  if (!all.within()) return "A";
  const Row& base = all.row(table.cells.front().base);
  switch (*all.by) {
  case Dimension::kStrategy: return printable(base.strategy);
  case Dimension::kThreads: return threads_name(base.threads);
  case Dimension::kCase: break;
  }
  return printable(base.case_name);
}

std::vector<std::uint32_t> compared_records(const Comparison& all) {
  if (all.within()) return {0};
  std::vector<std::uint32_t> records;
  for (std::uint32_t i = 1; i < all.records.size(); ++i) records.push_back(i);
  return records;
}

const Difference* of_record(const ComparedCell& cell, std::uint32_t record) {
  auto found =
      std::ranges::find_if(cell.against, [&](const Difference& d) { return d.place.record == record; });
  return found == cell.against.end() ? nullptr : &*found;
}

std::set<std::size_t> sample_sizes(const Comparison& all, const CellTable& table) {
  std::set<std::size_t> sizes;
  auto add = [&](RowPlace place) {
    if (auto n = throughputs(all.row(place)).size(); n > 0) sizes.insert(n);
  };
  for (const ComparedCell& cell : table.cells) {
    add(cell.base);
    for (const Difference& difference : cell.against) add(difference.place);
  }
  return sizes;
}

// By record and reason, the cells in the order of the table.
using ByReason = std::map<std::pair<std::uint32_t, std::string>, std::vector<std::string>>;

// "+12.5"; what rounds to nothing has no sign.
std::string signed_percent(double ratio, int decimals) {
  std::string text = fmt::format("{:+.{}f}", 100 * (ratio - 1), decimals);
  return text.find_first_not_of("+-0.") == std::string::npos ? text.substr(1) : text;
}

// Small changes have a decimal.
int decimals_of(double ratio) {
  return std::abs(ratio - 1) < 0.1 ? 1 : 0;
}

std::string change_interval(const Estimate& ratio, bool as_ratio) {
  if (!ratio.low || !ratio.high) return {};
  if (as_ratio) return fmt::format(" [{}-{}]", three_digits(*ratio.low), three_digits(*ratio.high));
  const int decimals = decimals_of(*ratio.median);
  return fmt::format(" [{}, {}]", signed_percent(*ratio.low, decimals),
                     signed_percent(*ratio.high, decimals));
}

}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
  case Verdict::kFaster: return "faster";
  case Verdict::kSlower: return "slower";
  case Verdict::kNoneProven: return "no difference proven";
  case Verdict::kCannotTell: break;
  }
  return "cannot tell";
}

std::vector<std::string> record_lines(const Comparison& all) {
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < all.records.size(); ++i) {
    const auto& [name, record, more] = all.records[i];
    lines.push_back(
        fmt::format("{}{}: {}, Linux {}, iotrace {}, seed {}{}", all.within() ? "" : letter_of(i) + "  ",
                    printable(name), printable(record.started), printable(record.host.kernel),
                    printable(record.iotrace), record.seed, record.partial ? ", partial" : "") +
        (more.empty() ? "" : fmt::format(", pooled with {}", counted(more.size(), "more session"))));
  }
  return lines;
}

std::string heading_of(const Comparison& all, const CellTable& table) {
  const bool in_title = all.within() || table.value.empty() || table.title.starts_with(table.value);
  return in_title ? table.title : table.value + ": " + table.title;
}

std::string unit_of(const Comparison& all, const CellTable& table) {
  const auto sizes = sample_sizes(all, table);
  if (sizes.empty()) return "ops/ms: no repetition finished";
  return fmt::format("ops/ms, median{} of {}",
                     *sizes.rbegin() >= kFewestSamplesForInterval ? " [95 % interval]" : "",
                     sizes.size() == 1 ? counted(*sizes.begin(), "repetition") : "n repetitions");
}

std::string change_of(double ratio) {
  if (ratio >= kManyTimes) return "x " + three_digits(ratio);
  return signed_percent(ratio, decimals_of(ratio)) + " %";
}

std::string change_text(const Difference& difference) {
  const Estimate& ratio = difference.ratio;
  if (!ratio.median) return std::string(kNotAvailable);
  const char* mark = difference.verdict == Verdict::kNoneProven   ? "~ "
                     : difference.verdict == Verdict::kCannotTell ? "? "
                                                                  : "";
  return mark + change_of(*ratio.median) + change_interval(ratio, *ratio.median >= kManyTimes);
}

std::string p_text(double p) {
  return p < 0.0001 ? "< 0.0001" : fmt::format("{:.{}f}", p, p < 0.01 ? 4 : 3);
}

Lines lines_of(const Comparison& all, const CellTable& table) {
  Lines out{.columns = {"strategy", "", base_name(all, table)}, .lines = {}};
  for (std::uint32_t record : compared_records(all)) {
    out.columns.push_back(all.within() ? "row" : letter_of(record));
    out.columns.push_back(all.within() ? "change" : letter_of(record) + " against A");
    out.columns.push_back("p");
  }
  const auto sizes = sample_sizes(all, table);
  const wording::Samples samples{.unit = "", .several_sizes = sizes.size() > 1};
  std::string last;
  for (const ComparedCell& cell : table.cells) {
    const Row& row = all.row(cell.against.front().place);
    std::string name = printable(row.strategy);
    std::vector<LineCell> line{{name == last ? "" : name}, {threads_name(row.threads)}};
    last = std::move(name);
    line.push_back({wording::throughput_text(all.row(cell.base), samples)});
    for (std::uint32_t record : compared_records(all)) {
      const Difference* difference = of_record(cell, record);
      if (!difference) {
        line.resize(line.size() + 3);
        continue;
      }
      line.push_back({wording::throughput_text(all.row(difference->place), samples)});
      line.push_back({change_text(*difference), difference->verdict});
      line.push_back({difference->p_adjusted ? p_text(*difference->p_adjusted) : std::string(kNotAvailable)});
    }
    out.lines.push_back(std::move(line));
  }
  return out;
}

std::vector<std::string> verdict_sentences(const Comparison& all, const CellTable& table) {
  ByReason none_proven, cannot_tell;
  for (const ComparedCell& cell : table.cells)
    for (const Difference& difference : cell.against) {
      ByReason* kind = difference.verdict == Verdict::kNoneProven   ? &none_proven
                       : difference.verdict == Verdict::kCannotTell ? &cannot_tell
                                                                    : nullptr;
      if (kind)
        (*kind)[{difference.place.record, difference.reason}].push_back(name_of_row(all, difference.place));
    }
  std::vector<std::string> sentences;
  auto add = [&](const ByReason& by_reason, std::string_view what) {
    for (const auto& [key, names] : by_reason)
      sentences.push_back(fmt::format("{}{}: {}{}", against(all, key.first), what, fmt::join(names, ", "),
                                      key.second.empty() ? "" : ": " + key.second));
  };
  add(none_proven, "no difference proven at 95 % (~)");
  add(cannot_tell, "cannot tell (?)");
  return sentences;
}

std::vector<std::string> why_sentences(const Comparison& all, const CellTable& table) {
  std::vector<const Difference*> shown;
  for (const ComparedCell& cell : table.cells)
    for (const Difference& difference : cell.against)
      if (difference.verdict == Verdict::kFaster || difference.verdict == Verdict::kSlower ||
          !difference.moved.empty())
        shown.push_back(&difference);
  std::ranges::stable_sort(shown, std::ranges::greater(), [](const Difference* d) { return distance(*d); });
  const std::size_t more = shown.size() - std::min(shown.size(), kMostExplained);
  shown.resize(shown.size() - more);

  const bool by_threads = all.within() && all.by == Dimension::kThreads;
  std::vector<std::string> sentences;
  for (const Difference* difference : shown) {
    const std::string change = difference->ratio.median ? " " + change_of(*difference->ratio.median) : "";
    std::string why = fmt::format("{}", fmt::join(difference->moved, "; "));
    if (difference->counters.empty())
      why = "no counter was taken in both";
    else if (why.empty())
      why = by_threads ? "no counter moved with it but the threads" : "the counters don't explain it";
    sentences.push_back(fmt::format("{}{}{}: {}", against(all, difference->place.record),
                                    name_of_row(all, difference->place), change, why));
  }
  if (more > 0) sentences.push_back(fmt::format("{} more: --format json", more));
  return sentences;
}

std::vector<std::string> summary_lines(const Comparison& all) {
  std::vector<std::string> lines;
  for (std::uint32_t record : compared_records(all)) {
    std::map<Verdict, std::uint32_t> count;
    std::uint32_t cells = 0;
    for (const CellTable& table : all.tables)
      for (const ComparedCell& cell : table.cells)
        if (const Difference* difference = of_record(cell, record)) {
          ++count[difference->verdict];
          ++cells;
        }
    if (cells == 0) continue;
    std::vector<std::string> parts;
    for (Verdict verdict : {Verdict::kFaster, Verdict::kSlower, Verdict::kNoneProven, Verdict::kCannotTell})
      if (count[verdict] > 0 || verdict == Verdict::kFaster)
        parts.push_back(fmt::format("{} in {}{}", verdict_name(verdict), count[verdict],
                                    parts.empty() ? " of " + counted(cells, "cell") : ""));
    lines.push_back(fmt::format("{}: {}.", all.within() ? "in sum" : letter_of(record) + " against A",
                                fmt::join(parts, ", ")));
  }
  for (const GeometricMean& mean : all.means)
    lines.push_back(fmt::format("geometric mean, {}{}: {} over {}.",
                                all.within() ? "" : letter_of(mean.record) + " against A",
                                mean.value.empty() ? ""
                                : all.within()     ? mean.value
                                                   : ", " + mean.value,
                                change_of(mean.ratio), counted(mean.cells, "cell")));
  return lines;
}

std::vector<std::string> unmatched_lines(const Comparison& all) {
  std::vector<std::pair<std::pair<std::uint32_t, std::string>, std::vector<std::uint32_t>>> groups;
  for (RowPlace place : all.unmatched) {
    std::pair key{place.record,
                  wording::group_title(all.records[place.record].record, RowGroup{.rows = {place.row}})};
    auto same = std::ranges::find(groups, key, [](const auto& group) { return group.first; });
    if (same == groups.end()) same = groups.insert(groups.end(), {key, {}});
    same->second.push_back(place.row);
  }
  std::vector<std::string> lines;
  for (const auto& [key, rows] : groups)
    lines.push_back(fmt::format("{}: {} ({})",
                                all.within() ? "without a counterpart" : "only in " + letter_of(key.first),
                                wording::name_rows(all.records[key.first].record, rows), key.second));
  return lines;
}

std::string legend(const Comparison& all) {
  return fmt::format(
      "change: ratio of the throughputs (Hodges-Lehmann) with its 95 % interval; p: Mann-Whitney, with "
      "Holm's "
      "correction over {}. ~: no difference proven at 95 %, or none above the noise floor; ?: cannot "
      "tell. Counters are of the repetitions with probes.",
      counted(all.tests, "comparison"));
}

}
