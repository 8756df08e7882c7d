// random-on-slow-device: MADV_RANDOM makes each absent page a wait of its own, where reading ahead would have
// paid that latency once for many. Met in llama.cpp PR 28223 and qdrant PR 7124.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kMostOfTheTime = 0.5;  // in waits for pages: else something else decides
constexpr std::array<std::string_view, 2> kReadingAhead{"mmap", "mmap-sequential"};

// Under RANDOM, without hints, and waiting.
bool waits_page_by_page(const Row& row) {
  if (!may_be_judged(row) || row.strategy != "mmap-random") return false;
  if (!row.faults || !row.faults->read || row.faults->read->count == 0 || !row.time) return false;
  const double all = time_total(row);
  return all > 0 && row.time->fault_wait_s.value_or(0) >= kMostOfTheTime * all;
}

struct Slower {
  std::uint32_t row = 0;
  Advantage ahead;  // of the strategy that reads ahead
};

std::optional<Slower> slower(const RunRecord& record, std::uint32_t index) {
  if (!waits_page_by_page(record.rows[index])) return std::nullopt;
  std::optional<Advantage> best;
  for (std::string_view strategy : kReadingAhead)
    if (auto faster = proven_faster(record, strategy, {index});
        faster && (!best || faster->least > best->least))
      best = faster;
  return best ? std::optional(Slower{index, *best}) : std::nullopt;
}

// One sentence for all, of the row that loses most.
std::vector<Finding> judge_random(const RunRecord& record) {
  std::vector<Slower> found;
  RowIndexes rows;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (auto row = slower(record, index)) {
      found.push_back(*row);
      rows.push_back(index);
    }
  if (found.empty()) return {};
  const Slower& worst = *std::ranges::max_element(found, {}, [](const Slower& s) { return s.ahead.least; });
  const Row& row = record.rows[worst.row];
  const double mean_ns =
      static_cast<double>(row.faults->read->lat_ns.sum()) / static_cast<double>(row.faults->read->count);
  std::string text =
      fmt::format("MADV_RANDOM costs {} its speed: it waits {} for each page that it reads, one page at a "
                  "time, {} of its "
                  "threads' time; {}, which reads ahead, is {} times as fast ({})",
                  row.strategy, human_ns(mean_ns), percent(*row.time->fault_wait_s / time_total(row)),
                  worst.ahead.strategy, three_digits(worst.ahead.least), name_cells(record, {worst.row}));
  if (found.size() > 1) text += fmt::format("; less in {}", counted(found.size() - 1, "other row"));
  return {
      {.id = "random-on-slow-device",
       .severity = "warn",
       .rows = rows,
       .text = text + ".",
       .numbers = {{"mean_wait_ns", mean_ns}, {"ratio", worst.ahead.least}},
       .remedy =
           "Leave files that are read in order, or in large pieces, under MADV_NORMAL or MADV_SEQUENTIAL.",
       .source = "llama.cpp PR 28223; qdrant PR 7124"}};
}

}

extern const FindingRule random_on_slow_device;
const FindingRule random_on_slow_device{"random-on-slow-device",
                                        "MADV_RANDOM waits for single pages where reading ahead would pay",
                                        judge_random};

}
