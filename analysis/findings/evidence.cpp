#include "analysis/findings/evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/comparison.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

std::string cell_name(const RunRecord& record, const Row& row) {
  std::string name = row.case_name + ' ' + row.pattern;
  if (record.options.read_size_bytes.size() > 1)
    name += ' ' + human_bytes(static_cast<double>(row.read_size_bytes));
  return name;
}

// In place of cells, for the totals of attach: what they are sums over.
std::string watch_words(const RunRecord& record, const Row& row) {
  std::string words = human_ns(1e9 * (record.target ? record.target->seconds : 0));
  return row.threads > 0 ? fmt::format("{}, {} that waited", words, counted(row.threads, "thread")) : words;
}

// Names in order of appearance, each followed by its thread counts.
std::string with_threads(const std::vector<std::pair<std::string, std::uint32_t>>& named) {
  std::vector<std::pair<std::string, std::set<std::uint32_t>>> groups;
  for (const auto& [name, threads] : named) {
    auto same = std::ranges::find(groups, name, [](const auto& group) { return group.first; });
    if (same == groups.end()) same = groups.insert(groups.end(), {name, {}});
    same->second.insert(threads);
  }
  std::string out;
  for (const auto& [name, thread_counts] : groups) {
    out += (out.empty() ? "" : ", ") + name;
    for (std::uint32_t threads : thread_counts) out += ' ' + threads_name(threads);
  }
  return out;
}

}

std::map<std::string, RowIndexes> rows_by_strategy(const RunRecord& record,
                                                   const std::function<bool(const Row&)>& holds) {
  std::map<std::string, RowIndexes> strategies;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (holds(record.rows[index])) strategies[record.rows[index].strategy].push_back(index);
  return strategies;
}

std::string name_cells(const RunRecord& record, const RowIndexes& rows) {
  if (of_attach(record)) return watch_words(record, record.rows[rows.front()]);
  std::vector<std::pair<std::string, std::uint32_t>> named;
  for (std::uint32_t index : rows)
    named.emplace_back(cell_name(record, record.rows[index]), record.rows[index].threads);
  return with_threads(named);
}

std::string name_rows_and_cells(const RunRecord& record, const RowIndexes& rows) {
  if (of_attach(record)) return target_name(record) + ", " + name_cells(record, rows);
  std::vector<std::pair<std::string, std::uint32_t>> named;
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    named.emplace_back(row.strategy + (row.control ? " (A/A) " : " ") + cell_name(record, row), row.threads);
  }
  return with_threads(named);
}

std::string range_text(double least, double most, const std::function<std::string(double)>& text) {
  std::string low = text(least), high = text(most);
  return low == high ? low : low + " to " + high;
}

std::optional<Advantage> proven_faster(const RunRecord& record, std::string_view strategy,
                                       const RowIndexes& rows) {
  if (emulated(record.host)) return std::nullopt;
  std::optional<Advantage> advantage;
  for (std::uint32_t index : rows) {
    auto beside = row_beside(record, record.rows[index], strategy);
    if (!beside) return std::nullopt;
    PairVerdict pair = compare(record, *beside, index);
    if (pair.verdict != Verdict::kFaster) return std::nullopt;
    double ratio = *pair.ratio.median;
    if (!advantage) advantage = Advantage{std::string(strategy), ratio, ratio};
    advantage->least = std::min(advantage->least, ratio);
    advantage->most = std::max(advantage->most, ratio);
  }
  return advantage;
}

}
