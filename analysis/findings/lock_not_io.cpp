// lock-not-io: reads wait for a lock around them, not for the disk. Met in Lucene issue 16044: positional
// reads of FileChannel stop scaling past 4 to 8 threads behind a mutex, and the effect vanishes once reads
// reach the disk, where the waits for I/O hide it.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

constexpr double kShare = 0.05;  // of the reader threads' time; what one might win without the lock

// Thread-seconds in futex(2), by which mutexes wait; mmap_lock has a finding of its own.
double mutex_seconds(const Row& row) {
  double seconds = *row.time->lock_wait_s;
  if (row.mmap_lock)
    for (const auto& side : {row.mmap_lock->read, row.mmap_lock->write})
      if (side) seconds -= contended_waits(*side).seconds;
  return std::max(0.0, seconds);
}

double io_seconds(const Row& row) {
  return row.time->read_wait_s.value_or(0) + row.time->fault_wait_s.value_or(0);
}

bool waits_for_a_mutex(const Row& row) {
  if (!may_be_judged(row) || !row.time || !row.time->lock_wait_s) return false;
  if (calls_of(row, "futex").value_or(0) == 0) return false;
  const double all = time_total(row), mutex = mutex_seconds(row);
  return all > 0 && mutex >= kShare * all && mutex > io_seconds(row);
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  auto share = [&](std::uint32_t index) {
    return mutex_seconds(record.rows[index]) / time_total(record.rows[index]);
  };
  const std::uint32_t worst = *std::ranges::max_element(rows, {}, share);
  const Row& row = record.rows[worst];
  const double io = io_seconds(row) / time_total(row);
  std::string text =
      fmt::format("{} waits for a mutex, not for the disk: {} of its threads' time in futex(2) "
                  "against {} for I/O ({})",
                  strategy, percent(share(worst)), percent(io), name_cells(record, {worst}));
  if (rows.size() > 1) text += fmt::format("; less in {}", counted(rows.size() - 1, "other row"));
  if (auto faster = proven_faster(record, "pread", rows))
    text += fmt::format("; pread, without the lock, is {} times as fast there",
                        range_text(faster->least, faster->most, three_digits));
  return {.id = "lock-not-io",
          .severity = "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"mutex_wait_ratio", share(worst)}, {"io_wait_ratio", io}},
          .remedy = "Read without a lock around it: pread(2) needs none, nor does a mapping.",
          .source = "Lucene issue 16044"};
}

std::vector<Finding> judge_mutex(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, waits_for_a_mutex))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

}

extern const FindingRule lock_not_io;
const FindingRule lock_not_io{"lock-not-io", "reads wait for a mutex around them rather than for the disk",
                              judge_mutex};

}
