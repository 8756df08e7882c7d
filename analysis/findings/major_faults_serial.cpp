// major-faults-serial: a read of several pages under mmap becomes as many faults, each of which reads one
// page and is waited for before the next begins. Met in qdrant PR 7124 (64 KiB objects under MADV_RANDOM: 16
// faults of 4 KiB at queue depth 1) and llama.cpp PR 28223 (512 s to load, 168 s once hinted).

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/wrong_advice.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// A read of one page that starts anywhere touches two: only from here on is there something to overlap.
constexpr double kFaultsPerRead = 2;
// Ends of the window: a fault may read its page just outside of it.
constexpr double kSameCounts = 0.01;
constexpr Count kFaults = 1000;  // attach: fewer are no load

constexpr const char* kRemedy =
    "Hint the whole range before touching it (MADV_WILLNEED, MADV_POPULATE_READ), or read it by pread.";
constexpr const char* kSource = "qdrant PR 7124; llama.cpp PR 28223";

bool one_page_each(const PageCache& pages, Count faults) {
  if (!pages.by.fault || !pages.by.readahead) return false;
  const auto all = static_cast<double>(faults);
  return std::abs(static_cast<double>(*pages.by.fault) - all) <= kSameCounts * all &&
         static_cast<double>(*pages.by.readahead) <= kSameCounts * all;
}

bool faults_page_by_page(const Row& row) {
  if (!may_be_judged(row) || row.expects.hints || hint_calls_of_any_kind(row).value_or(0) > 0) return false;
  if (!row.faults || !row.faults->read || !row.page_cache) return false;
  auto faults = static_cast<double>(row.faults->read->count);
  double reads = traced_reads(row);
  if (faults == 0 || reads <= 0 || faults / reads < kFaultsPerRead) return false;
  return one_page_each(*row.page_cache, row.faults->read->count);
}

// Of the strategies that do the same behind a hint, the one that is proven to gain most.
std::optional<Advantage> best_with_hints(const RunRecord& record, const RowIndexes& rows) {
  std::optional<Advantage> best;
  for (const Row& row : record.rows) {
    if (!row.expects.hints || row.expects.differs_from != record.rows[rows.front()].strategy) continue;
    auto faster = proven_faster(record, row.strategy, rows);
    if (faster && (!best || faster->least > best->least)) best = faster;
  }
  return best;
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  double faults = 0, reads = 0, waited_ns = 0;
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    faults += static_cast<double>(row.faults->read->count);
    waited_ns += static_cast<double>(row.faults->read->lat_ns.sum());
    reads += traced_reads(row);
  }
  std::string text = fmt::format(
      "{} waits for one page after the other: {:.0f} faults that read one page each in {:.0f} reads of {}, "
      "{} per "
      "read, {} each on average ({})",
      strategy, faults, reads, human_bytes(static_cast<double>(record.rows[rows.front()].read_size_bytes)),
      three_digits(faults / reads), human_ns(waited_ns / faults), name_cells(record, rows));
  if (auto faster = best_with_hints(record, rows))
    text += fmt::format("; {}, which hints first, is {} times as fast there", faster->strategy,
                        range_text(faster->least, faster->most, three_digits));
  return {.id = "major-faults-serial",
          .severity = "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"read_faults", faults},
                      {"reads", reads},
                      {"faults_per_read", faults / reads},
                      {"mean_wait_ns", waited_ns / faults}},
          .remedy = kRemedy,
          .source = kSource};
}

std::vector<Finding> judge_faults(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, faults_page_by_page)) {
    // Reads of one size share a sentence.
    std::map<std::uint64_t, RowIndexes> by_size;
    for (std::uint32_t index : rows) by_size[record.rows[index].read_size_bytes].push_back(index);
    for (const auto& [size, same_size] : by_size)
      findings.push_back(finding_for(record, strategy, same_size));
  }
  return findings;
}

// ---- attach ----

// Faults in a row: the longest that one read of several pages looks like. Longer ones are a file that is read
// in order, which wrong-advice speaks of.
double faults_in_a_row(const AccessOrder& order) {
  return static_cast<double>(order.in_order + order.out_of_order) /
         static_cast<double>(std::max<Count>(order.out_of_order, 1));
}

bool attached_page_by_page(const AttachedFile& file) {
  if (!file.faults || !file.faults->read || !file.page_cache || !file.order) return false;
  if (prevailing_advice(file) != "RANDOM" || !file.hints || file.hints->issued.value_or(1) > 0) return false;
  const Count faults = file.faults->read->count;
  const double in_a_row = faults_in_a_row(*file.order);
  return faults >= kFaults && one_page_each(*file.page_cache, faults) && in_a_row >= kFaultsPerRead &&
         in_a_row < kAccessesOfAScan;
}

Finding attached_finding(const RunRecord& record, const FileIndexes& files) {
  const AttachedFile sum = sum_of(record, files);
  const FaultClass& read = *sum.faults->read;
  const double in_a_row = faults_in_a_row(*sum.order), mean_ns = read.lat_ns.mean().value_or(0);
  std::string text =
      fmt::format("{} is waited for one page after the other: {} faults that read one page each under "
                  "MADV_RANDOM, {} in a row, {} each on average",
                  name_files(record, files), read.count, three_digits(in_a_row), human_ns(mean_ns));
  if (sum.block_io && sum.block_io->request_bytes)
    if (auto size = sum.block_io->request_bytes->percentile(0.5))
      text += fmt::format("; half of the device's reads are of at most {}",
                          human_bytes(static_cast<double>(*size)));
  return {.id = "major-faults-serial",
          .severity = "warn",
          .rows = files,
          .text = text + ".",
          .numbers = {{"read_faults", static_cast<double>(read.count)},
                      {"faults_in_a_row", in_a_row},
                      {"mean_wait_ns", mean_ns}},
          .remedy = kRemedy,
          .source = kSource};
}

std::vector<Finding> judge_attached_faults(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const FileIndexes& group : by_extension(record, files_that(record, attached_page_by_page)))
    findings.push_back(attached_finding(record, group));
  return findings;
}

}

extern const FindingRule major_faults_serial;
const FindingRule major_faults_serial{
    "major-faults-serial", "reads of several pages under mmap fault page by page, each wait after the other",
    judge_faults, judge_attached_faults};

}
