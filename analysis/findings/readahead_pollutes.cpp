// readahead-pollutes: what is read ahead for nothing pushes out what is needed again. The opposite of
// random-on-slow-device, and worse than waste alone: the cache itself is lost. Met in RocksDB issue 9931 and
// Elasticsearch issue 27748.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kWasted = 0.5;       // of all pages added: read ahead and never used
constexpr double kCameBack = 0.05;    // of all pages added: what had to be read again
constexpr double kFewerBeside = 0.5;  // of those per op, where nothing is read ahead

struct Refaults {
  double wasted = 0;  // share of the pages added that was read ahead for nothing
  double share = 0;   // of the pages added
  double per_op = 0;
};

// nullopt: not counted.
std::optional<Refaults> refaults(const Row& row) {
  if (!may_be_judged(row) || !row.page_cache) return std::nullopt;
  const PageCache& pages = *row.page_cache;
  const double ops = ops_of(row.traced);
  if (!pages.refault_pages || !pages.added_pages || *pages.added_pages == 0 || ops <= 0) return std::nullopt;
  const auto again = static_cast<double>(*pages.refault_pages);
  Refaults found{.share = again / static_cast<double>(*pages.added_pages), .per_op = again / ops};
  found.wasted =
      static_cast<double>(pages.wasted_by.readahead.value_or(0)) / static_cast<double>(*pages.added_pages);
  return found;
}

struct Pollution {
  std::uint32_t row = 0, beside = 0;
  Refaults here, there;
};

std::optional<Pollution> pollution(const RunRecord& record, std::uint32_t index) {
  const Row& row = record.rows[index];
  const auto here = refaults(row);
  if (!here || here->wasted < kWasted || here->share < kCameBack) return std::nullopt;
  const auto beside = row_beside(record, row, "mmap-random");
  const auto there = beside ? refaults(record.rows[*beside]) : std::nullopt;
  if (!there || there->per_op > kFewerBeside * here->per_op) return std::nullopt;
  return Pollution{index, *beside, *here, *there};
}

// One sentence a strategy, of the row where most came back.
Finding finding_for(const RunRecord& record, const std::string& strategy,
                    const std::vector<Pollution>& found) {
  const Pollution& worst =
      *std::ranges::max_element(found, {}, [](const Pollution& p) { return p.here.per_op; });
  std::string text =
      fmt::format("readahead in {} pushes out what is needed again: {} of all pages were read ahead and "
                  "never used, and {} pages "
                  "per op were read again after they had left the cache, {} in mmap-random ({})",
                  strategy, percent(worst.here.wasted), three_digits(worst.here.per_op),
                  three_digits(worst.there.per_op), name_cells(record, {worst.row}));
  if (found.size() > 1) text += fmt::format("; less in {}", counted(found.size() - 1, "other row"));
  RowIndexes rows;
  for (const Pollution& pollution : found) rows.push_back(pollution.row);
  return {.id = "readahead-pollutes",
          .severity = "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"wasted_ratio", worst.here.wasted},
                      {"refault_ratio", worst.here.share},
                      {"refaults_per_op", worst.here.per_op},
                      {"refaults_per_op_beside", worst.there.per_op}},
          .remedy =
              "Advise the mapping MADV_RANDOM, or lower the device's read_ahead_kb, so that the cache keeps "
              "what is used.",
          .source = "RocksDB issue 9931; Elasticsearch issue 27748"};
}

std::vector<Finding> judge_pollution(const RunRecord& record) {
  std::map<std::string, std::vector<Pollution>> by_strategy;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (auto found = pollution(record, index)) by_strategy[record.rows[index].strategy].push_back(*found);
  std::vector<Finding> findings;
  for (const auto& [strategy, found] : by_strategy) findings.push_back(finding_for(record, strategy, found));
  return findings;
}

}

extern const FindingRule readahead_pollutes;
const FindingRule readahead_pollutes{
    "readahead-pollutes", "pages read ahead for nothing push out what is needed again", judge_pollution};

}
