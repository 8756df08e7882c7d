// host-cache: something below this machine's page cache keeps what was read: a hypervisor's cache, a
// controller's. Cold rows then measure that cache. Met in io500 issue 109 and RocksDB PR 10142.

#include <fmt/format.h>

#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// Two passes past the page cache differ by noise alone, unless the second is served from somewhere else. On a
// busy virtual machine that noise alone came to 1.53.
constexpr double kMuchFaster = 2;

std::vector<Finding> judge_second_pass(const RunRecord& record) {
  if (record.second_pass_ratio.value_or(0) < kMuchFaster) return {};
  RowIndexes rows;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    if (may_be_judged(row) && row.device_bytes.value_or(0) > 0) rows.push_back(index);
  }
  if (rows.empty()) return {};
  return {
      {.id = "host-cache",
       .severity = "warn",
       .rows = rows,
       .text = fmt::format("blocks read past the page cache came {} times as fast the second time: something "
                           "below this machine caches them, and rows that read from the device may have "
                           "measured that cache ({}).",
                           three_digits(*record.second_pass_ratio), name_cells(record, rows)),
       .numbers = {{"second_pass_ratio", *record.second_pass_ratio}},
       .remedy = "Use a file larger than that cache, or measure on the machine that owns the device.",
       .source = "calibration of this run; io500 issue 109"}};
}

}

extern const FindingRule host_cache;
const FindingRule host_cache{"host-cache", "a cache below this machine serves reads that look cold",
                             judge_second_pass};

}
