// backoff-suppressed: a rule that saves needless hints withholds needed ones. Met in Lucene PR 16145: the
// count of hints in a row that found their pages is shared by all threads and ends with a miss that is looked
// at, so that a file which is partly cached is hardly hinted, and its absent pages are read by faults, one by
// one.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kPages = 100;     // fewer may be chance
constexpr double kOfAdded = 0.05;  // of the pages that came into the cache
constexpr double kMostly = 0.5;

struct Withheld {
  double hints = 0, absent_pages = 0, added_pages = 0;

  double share() const { return absent_pages / added_pages; }
};

// nullopt: not counted.
std::optional<Withheld> withheld(const Row& row) {
  if (!row.hints || !row.hints->suppressed || !row.hints->suppressed_absent_pages) return std::nullopt;
  if (!row.page_cache || row.page_cache->added_pages.value_or(0) == 0) return std::nullopt;
  return Withheld{static_cast<double>(*row.hints->suppressed),
                  static_cast<double>(*row.hints->suppressed_absent_pages),
                  static_cast<double>(*row.page_cache->added_pages)};
}

bool withholds_needed_hints(const Row& row) {
  if (!may_be_judged(row)) return false;
  const auto found = withheld(row);
  return found && found->hints > 0 && found->absent_pages >= kPages && found->share() >= kOfAdded;
}

// The same strategy without the back-off, or with a look each time: which is proven faster by more?
std::optional<Advantage> without_backoff(const RunRecord& record, const std::string& strategy,
                                         const RowIndexes& rows) {
  const std::string hinting = strategy.substr(0, strategy.find("-backoff"));
  std::optional<Advantage> best;
  for (const std::string& other : {hinting, hinting + "-mincore"})
    if (auto faster = proven_faster(record, other, rows); faster && (!best || faster->least > best->least))
      best = faster;
  return best;
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  Withheld all;
  for (std::uint32_t index : rows) {
    const Withheld found = *withheld(record.rows[index]);
    all.hints += found.hints;
    all.absent_pages += found.absent_pages;
    all.added_pages += found.added_pages;
  }
  std::string text =
      fmt::format("the back-off of {} withholds hints that were needed: {:.0f} pages of {:.0f} withheld "
                  "hints were absent "
                  "and had to be read by a fault, {} of the pages that came into the cache ({})",
                  strategy, all.absent_pages, all.hints, percent(all.share()), name_cells(record, rows));
  if (auto faster = without_backoff(record, strategy, rows))
    text += fmt::format("; {} is {} times as fast there", faster->strategy,
                        range_text(faster->least, faster->most, three_digits));
  return {.id = "backoff-suppressed",
          .severity = all.share() >= kMostly ? "fail" : "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"suppressed", all.hints},
                      {"suppressed_absent_pages", all.absent_pages},
                      {"of_added_ratio", all.share()}},
          .remedy =
              "Hint always where the mapping is MADV_RANDOM, or ask mincore each time, without the counter.",
          .source = "Lucene PR 16145"};
}

std::vector<Finding> judge_backoff(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, withholds_needed_hints))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

}

extern const FindingRule backoff_suppressed;
const FindingRule backoff_suppressed{
    "backoff-suppressed", "a back-off withholds hints for pages that are absent and then read by faults",
    judge_backoff};

}
