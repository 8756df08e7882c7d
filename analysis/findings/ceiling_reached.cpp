// ceiling-reached: the device delivers what it can, so that no other way of reading the same bytes can be
// faster. Without it a table of equal rows reads as "it makes no difference how one reads".

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// The calibration is short; repeated, it differs by several percent on a quiet machine.
constexpr double kReached = 0.9;
// A row that is faster still proves the calibration too low: it is no ceiling then.
constexpr double kNoCeiling = 1.1;
// A read of n pages at any byte touches n + 1: rows above this make requests of another size than they ask
// for.
constexpr double kOwnRequests = 1.35;

// The ceiling at the size of the row's reads, whole pages, where that was measured.
std::optional<double> ceiling_of(const RunRecord& record, const Row& row) {
  const std::uint64_t page = std::max<std::uint64_t>(record.host.page_size_bytes, 1);
  const std::uint64_t request = (row.read_size_bytes + page - 1) / page * page;
  auto own = bandwidth_ceiling(record, request);
  return own ? own : bandwidth_ceiling(record);
}

// Share of that ceiling. nullopt: not known.
std::optional<double> share_of(const RunRecord& record, const Row& row) {
  auto most = bandwidth_ceiling(record), own = ceiling_of(record, row);
  if (!row.ceiling_ratio || !most || !own || *own <= 0) return std::nullopt;
  return *row.ceiling_ratio * *most / *own;
}

std::vector<Finding> judge_ceiling(const RunRecord& record) {
  std::vector<Finding> findings;
  auto reached = [&](const Row& row) {
    const double share = share_of(record, row).value_or(0);
    const bool reads_what_it_asks_for = row.amplification_ratio.value_or(0) <= kOwnRequests;
    return may_be_judged(row) && reads_what_it_asks_for && share >= kReached && share <= kNoCeiling;
  };
  for (const auto& [strategy, rows] : rows_by_strategy(record, reached)) {
    auto share = [&](std::uint32_t index) { return *share_of(record, record.rows[index]); };
    const std::uint32_t best = *std::ranges::max_element(rows, {}, share);
    const Row& row = record.rows[best];
    const double ceiling = *ceiling_of(record, row);
    findings.push_back(
        {.id = "ceiling-reached",
         .severity = "info",
         .rows = rows,
         .text =
             fmt::format("{} reads as fast as the device delivers: {} MB/s, where O_DIRECT reads reached {} "
                         "MB/s ({}); another way to read the same bytes can't be faster there.",
                         strategy, megabytes_per_s(share(best) * ceiling), megabytes_per_s(ceiling),
                         name_cells(record, rows)),
         .numbers = {{"ceiling_bytes_per_s", ceiling}, {"ceiling_ratio", share(best)}},
         .remedy = "Ask the device for fewer bytes (less readahead, a larger cache), or use a faster device.",
         .source = "calibration of this run: O_DIRECT, io_uring, growing queue depth"});
  }
  return findings;
}

}

extern const FindingRule ceiling_reached;
const FindingRule ceiling_reached{"ceiling-reached", "the device delivers all that it can", judge_ceiling};

}
