// prefetch-late: hinted pages are touched while the device still reads them. Met in Lucene issue 16044 and
// opensearch-storage-encryption PR 149 (read 38 us after its hint, fault of 475 us): hint and read follow
// each other at once, and the hint gains no more than a deeper queue.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kLate = 0.2;    // of the hinted pages that were read: less is the end of a batch
constexpr double kMostly = 0.5;  // from here on hints are late as a rule
constexpr double kPages = 100;   // fewer may be chance
// Of the threads' time: below the first nothing is to be won by hinting earlier; from the second on there is,
// however few the pages. Who waits for the first page of a hint finds the others there when it ends.
constexpr double kWaiting = 0.05;
constexpr double kMuchWaiting = 0.25;

constexpr const char* kHintEarlier = "Hint earlier: more work or a larger batch between hint and read";

struct Lateness {
  double late = 0, in_time = 0;

  double pages() const { return late + in_time; }
  double share() const { return late / pages(); }
};

// nullopt: not counted, or too few to tell.
std::optional<Lateness> lateness(const Row& row) {
  if (!may_be_judged(row) || !row.hints || !row.hints->late_pages || !row.hints->in_time_pages)
    return std::nullopt;
  const Lateness found{static_cast<double>(*row.hints->late_pages),
                       static_cast<double>(*row.hints->in_time_pages)};
  return found.pages() >= kPages ? std::optional(found) : std::nullopt;
}

// Share of the threads' time in faults that waited for I/O under way; nullopt: there were none, or none were
// counted (a reading call waits inside itself).
std::optional<double> waiting_share(const Row& row) {
  if (!row.faults || !row.faults->waited || row.faults->waited->count == 0) return std::nullopt;
  const double seconds = time_total(row);
  return seconds > 0 ? std::optional(static_cast<double>(row.faults->waited->lat_ns.sum()) / 1e9 / seconds)
                     : std::nullopt;
}

// What is waited for may have been read ahead of another page instead: as much of the waiting as there are
// late pages for.
bool much_waiting(const Row& row, const Lateness& found) {
  const auto waiting = waiting_share(row);
  return waiting && *waiting * std::min(1.0, found.late / static_cast<double>(row.faults->waited->count)) >=
                        kMuchWaiting;
}

bool hints_late(const Row& row) {
  const auto found = lateness(row);
  if (!found) return false;
  return much_waiting(row, *found) ||
         (found->share() >= kLate && waiting_share(row).value_or(kWaiting) >= kWaiting);
}

// The same reads with more work between hint and read.
bool same_with_more_work(const Row& row, const Row& other) {
  if (other.strategy != row.strategy || other.cell.compute_ns <= row.cell.compute_ns) return false;
  Row alike;
  alike.case_name = other.case_name;
  alike.pattern = other.pattern;
  alike.threads = other.threads;
  alike.read_size_bytes = other.read_size_bytes;
  alike.reads_per_op = other.reads_per_op;
  alike.cell = other.cell;
  alike.cell.compute_ns = row.cell.compute_ns;
  return same_cell(row, alike);
}

// "; with 500 us of work between them, 4 % are": of rows with more work, the one where least comes late.
std::string with_more_work(const RunRecord& record, const Row& row) {
  const Row* best = nullptr;
  double least = lateness(row)->share();
  for (const Row& other : record.rows)
    if (const auto found = lateness(other);
        found && found->share() < least && same_with_more_work(row, other)) {
      best = &other;
      least = found->share();
    }
  return best ? fmt::format("; with {} of work between hint and read it is {}",
                            human_ns(static_cast<double>(best->cell.compute_ns)), percent(least))
              : "";
}

std::string waits_text(const Row& row) {
  const auto share = waiting_share(row);
  if (!share) return {};
  const Histogram& waits = row.faults->waited->lat_ns;
  const auto p50 = waits.percentile(0.5), p99 = waits.percentile(0.99);
  if (!p50 || !p99) return {};
  return fmt::format("; faults on pages in flight waited {} (p50), {} (p99), {} of its threads' time",
                     human_ns(static_cast<double>(*p50)), human_ns(static_cast<double>(*p99)),
                     percent(*share));
}

std::string late_per_hint(const Row& row, double late_pages) {
  const auto hints = hint_calls_of_any_kind(row);
  return hints && *hints > 0
             ? fmt::format(", {} a hint,", three_digits(late_pages / static_cast<double>(*hints)))
             : "";
}

// One row a strategy speaks for all: the one with the largest share.
Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  const std::uint32_t worst = *std::ranges::max_element(
      rows, {}, [&](std::uint32_t index) { return lateness(record.rows[index])->share(); });
  const Row& row = record.rows[worst];
  const Lateness found = *lateness(row);
  std::string text =
      fmt::format("hints come late in {}: of {:.0f} hinted pages that were read, {}{} were still in flight "
                  "when they were "
                  "touched ({}{})",
                  strategy, found.pages(), percent(found.share()), late_per_hint(row, found.late),
                  name_cells(record, {worst}),
                  row.cell.compute_ns > 0 ? fmt::format(", {} of work between hint and read",
                                                        human_ns(static_cast<double>(row.cell.compute_ns)))
                                          : "");
  text += waits_text(row) + with_more_work(record, row);
  if (rows.size() > 1) text += fmt::format("; less in {}", counted(rows.size() - 1, "other row"));
  Finding finding{.id = "prefetch-late",
                  .severity = found.share() >= kMostly ? "warn" : "info",
                  .rows = rows,
                  .text = text + ".",
                  .numbers = {{"late_pages", found.late},
                              {"in_time_pages", found.in_time},
                              {"late_ratio", found.share()}},
                  .remedy = fmt::format("{} (--compute shows how much it takes).", kHintEarlier),
                  .source = "Lucene issue 16044; opensearch-storage-encryption PR 149"};
  if (const auto share = waiting_share(row)) finding.numbers["wait_ratio"] = *share;
  return finding;
}

std::vector<Finding> judge_hints(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, hints_late))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

std::vector<Finding> judge_attached_hints(const RunRecord& record) {
  const FileIndexes files = files_that(
      record, [](const AttachedFile& file) { return file.hints && file.hints->late_pages.value_or(0) > 0; });
  std::vector<Finding> findings = on_files(over_totals<judge_hints>(record), record, files);
  for (Finding& finding : findings) finding.remedy = fmt::format("{}.", kHintEarlier);
  return findings;
}

}

extern const FindingRule prefetch_late;
const FindingRule prefetch_late{"prefetch-late",
                                "hinted pages are still in flight when they are touched: how many, how long",
                                judge_hints, judge_attached_hints};

}
