// readahead-pollutes: what is read ahead for nothing pushes out what is needed again. The opposite of
// random-on-slow-device, and worse than waste alone: the cache itself is lost. Met in RocksDB issue 9931 and
// Elasticsearch issue 27748.

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kWasted = 0.5;       // of the pages read ahead: below it, readahead is half right
constexpr double kCameBack = 0.05;    // of all pages added: what had to be read again
constexpr double kFewerBeside = 0.5;  // of those per op, where nothing is read ahead

struct Refaults {
  double wasted = 0;  // share of the pages read ahead
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
  if (pages.by.readahead.value_or(0) > 0 && pages.wasted_by.readahead)
    found.wasted = static_cast<double>(*pages.wasted_by.readahead) / static_cast<double>(*pages.by.readahead);
  return found;
}

std::vector<Finding> judge_pollution(const RunRecord& record) {
  std::vector<Finding> findings;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    const auto here = refaults(row);
    if (!here || here->wasted < kWasted || here->share < kCameBack) continue;
    const auto beside = row_beside(record, row, "mmap-random");
    const auto there = beside ? refaults(record.rows[*beside]) : std::nullopt;
    if (!there || there->per_op > kFewerBeside * here->per_op) continue;
    findings.push_back(
        {.id = "readahead-pollutes",
         .severity = "warn",
         .rows = {index, *beside},
         .text = fmt::format(
             "readahead in {} pushes out what is needed again: {} of what it read ahead was never "
             "used, and {} pages per op were read again after they had left the cache, {} in "
             "mmap-random ({}).",
             row.strategy, percent(here->wasted), three_digits(here->per_op), three_digits(there->per_op),
             name_cells(record, {index})),
         .numbers = {{"wasted_ratio", here->wasted},
                     {"refault_ratio", here->share},
                     {"refaults_per_op", here->per_op},
                     {"refaults_per_op_beside", there->per_op}},
         .remedy = "Advise the mapping MADV_RANDOM, or lower the device's read_ahead_kb, so that the cache "
                   "keeps what is used.",
         .source = "RocksDB issue 9931; Elasticsearch issue 27748"});
  }
  return findings;
}

}

extern const FindingRule readahead_pollutes;
const FindingRule readahead_pollutes{
    "readahead-pollutes", "pages read ahead for nothing push out what is needed again", judge_pollution};

}
