#include "analysis/reports/missing_numbers.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/text.h"

namespace iotrace {

std::string reason_missing(const Row& row, std::string_view key) {
  while (true) {
    if (auto found = row.unavailable.find(std::string(key)); found != row.unavailable.end())
      return printable(found->second);
    std::size_t dot = key.rfind('.');
    if (dot == std::string_view::npos) break;
    key = key.substr(0, dot);
  }
  if (!row.untraced && !row.traced) return "no repetition finished";
  if (!row.traced || row.traced->reps.empty()) return "no repetition ran with probes";
  if (!row.untraced || row.untraced->reps.empty()) return "no repetition ran without probes";
  return "the record gives no reason";
}

std::string MissingNumbers::mark(const Row& row, std::string_view key, std::string_view column) {
  std::string reason = reason_missing(row, key);
  using Entry = decltype(columns_by_reason_)::value_type;
  auto entry = std::ranges::find(columns_by_reason_, reason, &Entry::first);
  if (entry == columns_by_reason_.end()) entry = columns_by_reason_.insert(entry, {reason, {}});
  if (std::ranges::find(entry->second, column) == entry->second.end()) entry->second.emplace_back(column);
  return std::string(kNotAvailable);
}

std::vector<std::string> MissingNumbers::reasons() const {
  std::vector<std::string> lines;
  for (const auto& [reason, columns] : columns_by_reason_)
    lines.push_back(fmt::format("{}: {}", fmt::join(columns, ", "), reason));
  return lines;
}

}
