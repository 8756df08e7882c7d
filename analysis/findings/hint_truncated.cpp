// hint-truncated: one hint asks for more than the kernel reads for one call, and returns 0 all the same. Met
// in bun PR 40501: a WILLNEED over 64 or 256 MiB loads 8 MiB.
//
// The cap is the larger of the device's readahead and its largest request (force_page_cache_ra).

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// Of what was asked for.
constexpr double kWorth = 0.05;
constexpr double kMostly = 0.5;

// Of one row or of several.
struct Truncated {
  double pages = 0;                                   // passed over
  double calls = 0, asked_bytes = 0, over_bytes = 0;  // of madvise(WILLNEED) calls that returned 0

  // All of it was asked for by madvise: other calls that hint say nothing of their length.
  bool measured() const { return calls > 0 && over_bytes < asked_bytes; }
};

Truncated truncated(const Row& row, std::uint64_t page_size_bytes) {
  Truncated found{.pages = static_cast<double>(row.hints->truncated_pages.value_or(0))};
  for (const MadviseCount& count : row.madvise.value_or(std::vector<MadviseCount>()))
    if (count.advice == "WILLNEED" && !count.error) {
      found.calls += static_cast<double>(count.calls);
      found.asked_bytes += static_cast<double>(count.requested_bytes);
    }
  found.over_bytes = found.pages * static_cast<double>(page_size_bytes);
  return found;
}

bool cuts_short(const RunRecord& record, const Row& row) {
  if (!may_be_judged(row) || !row.hints || row.hints->truncated_pages.value_or(0) == 0) return false;
  const Truncated found = truncated(row, record.host.page_size_bytes);
  return !found.measured() || found.over_bytes >= kWorth * found.asked_bytes;
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  Truncated all;
  for (std::uint32_t index : rows) {
    const Truncated found = truncated(record.rows[index], record.host.page_size_bytes);
    all.pages += found.pages;
    all.calls += found.calls;
    all.asked_bytes += found.asked_bytes;
    all.over_bytes += found.over_bytes;
  }
  Finding finding{.id = "hint-truncated",
                  .severity = "warn",
                  .rows = rows,
                  .text = {},
                  .numbers = {{"truncated_pages", all.pages}},
                  .remedy = {},
                  .source = "bun PR 40501; mm/readahead.c, force_page_cache_ra"};
  const std::string where = name_cells(record, rows);
  if (!all.measured()) {
    finding.text =
        fmt::format("hints are cut short in {}: {:.0f} pages lie beyond what the kernel reads for one "
                    "call ({}).",
                    strategy, all.pages, where);
    finding.remedy = "Split each hint: the larger of read_ahead_kb and max_sectors_kb is read for one call.";
    return finding;
  }
  const double share = all.over_bytes / all.asked_bytes;
  const std::string loaded = human_bytes((all.asked_bytes - all.over_bytes) / all.calls);
  finding.severity = share >= kMostly ? "fail" : "warn";
  finding.text =
      fmt::format("hints are cut short in {}: one madvise(WILLNEED) over {} loads {}, and {} of what "
                  "{} asked for is passed over without an error ({}).",
                  strategy, human_bytes(all.asked_bytes / all.calls), loaded, percent(share),
                  counted(static_cast<std::uint64_t>(all.calls), "call"), where);
  finding.numbers["calls"] = all.calls;
  finding.numbers["requested_bytes"] = all.asked_bytes;
  finding.numbers["truncated_ratio"] = share;
  finding.remedy = fmt::format("Split it: hint {} at a time.", loaded);
  return finding;
}

std::vector<Finding> judge_hints(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] :
       rows_by_strategy(record, [&](const Row& row) { return cuts_short(record, row); })) {
    // Reads of one size share a sentence.
    std::map<std::uint64_t, RowIndexes> by_size;
    for (std::uint32_t index : rows) by_size[record.rows[index].read_size_bytes].push_back(index);
    for (const auto& [size, same_size] : by_size)
      findings.push_back(finding_for(record, strategy, same_size));
  }
  return findings;
}

std::vector<Finding> judge_attached_hints(const RunRecord& record) {
  const FileIndexes files = files_that(record, [](const AttachedFile& file) {
    return file.hints && file.hints->truncated_pages.value_or(0) > 0;
  });
  return on_files(over_totals<judge_hints>(record), record, files);
}

}

extern const FindingRule hint_truncated;
const FindingRule hint_truncated{
    "hint-truncated", "one hint asks for more than the kernel reads for a call: how much is left out",
    judge_hints, judge_attached_hints};

}
