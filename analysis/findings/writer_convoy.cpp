// writer-convoy: faults stand in line behind a call that holds mmap_lock for writing. Met in OpenSearch issue
// 20933: one thread maps, advises and unmaps index segments, and searches stall at half the CPU.
//
// A reader waits for a writer alone, one that has the lock or one that queues for it. So where readers wait
// and the holder is known, the call to change is known. mmap-lock-wait speaks of the other waits: of writers,
// and behind holders that nobody saw.

#include "analysis/findings/writer_convoy.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// Of the reader threads' time; those of mmap-lock-wait.
constexpr double kShare = 0.05;
constexpr double kSevereShare = 0.25;
constexpr double kByWriters = 0.5;  // of all waits whose holder was seen

// Advice that leaves the mapping as it is needs the lock as a reader only.
//   source   mm/madvise.c, madvise_need_mmap_write
bool needs_write_lock(std::string_view advice) {
  static constexpr std::array<std::string_view, 8> kReaders{
      "REMOVE", "WILLNEED", "DONTNEED", "DONTNEED_LOCKED", "COLD", "PAGEOUT", "FREE", "COLLAPSE"};
  return !advice.starts_with("POPULATE") && std::ranges::find(kReaders, advice) == kReaders.end();
}

bool is_writer(const Row& row, const LockHolder& holder) {
  if (holder.syscall == "madvise" && row.madvise)
    return std::ranges::any_of(*row.madvise,
                               [](const MadviseCount& count) { return needs_write_lock(count.advice); });
  return holder.syscall == "mmap" || holder.syscall == "munmap" || holder.syscall == "mprotect";
}

double readers_share(const Row& row) {
  const double seconds = time_total(row);
  return seconds > 0 && row.mmap_lock->read ? contended_waits(*row.mmap_lock->read).seconds / seconds : 0;
}

// Writers that were waited for, most often first; thread and call.
std::vector<LockHolder> writers_of(const Row& row) {
  std::vector<LockHolder> writers;
  for (const LockHolder& holder : *row.mmap_lock->holders)
    if (is_writer(row, holder)) writers.push_back(holder);
  std::ranges::stable_sort(writers, std::greater(), &LockHolder::times);
  return writers;
}

Count times_of(const std::vector<LockHolder>& holders) {
  Count times = 0;
  for (const LockHolder& holder : holders) times += holder.times;
  return times;
}

// "churn in munmap (97 times) and mmap (3 times)"
std::string writers_text(const std::vector<LockHolder>& writers) {
  constexpr std::size_t kNamed = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, writers.size()); ++i) {
    const bool same_thread = i > 0 && writers[i].thread == writers[i - 1].thread;
    text += fmt::format("{}{}{} ({} times)", i == 0 ? "" : " and ",
                        same_thread ? "" : "thread " + writers[i].thread + " in ", writers[i].syscall,
                        writers[i].times);
  }
  return text;
}

Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  auto share = [&](std::uint32_t index) { return readers_share(record.rows[index]); };
  const std::uint32_t worst = *std::ranges::max_element(rows, {}, share);
  const Row& row = record.rows[worst];
  const LockSide& readers = *row.mmap_lock->read;
  const LockWaits waits = contended_waits(readers);
  const std::vector<LockHolder> writers = writers_of(row);
  std::string text = fmt::format(
      "{} stands in line behind writers of mmap_lock, {} of its threads' time ({}): {} of {} acquisitions as "
      "reader waited, {:.3g} s in all, p99 {}; held for writing by {}",
      strategy, percent(share(worst)), name_cells(record, {worst}), waits.contended, waits.acquired,
      waits.seconds, human_ns(static_cast<double>(waits.p99_ns.value_or(0))), writers_text(writers));
  if (const auto& hold = row.mmap_lock->write ? row.mmap_lock->write->hold_ns : std::nullopt)
    if (const auto p99 = hold->percentile(0.99))
      text += fmt::format(", for {} at p99", human_ns(static_cast<double>(*p99)));
  if (record.host.per_vma_locks == false) text += "; without per-VMA locks every fault needs it";
  if (rows.size() > 1) text += fmt::format("; less in {}", counted(rows.size() - 1, "other row"));
  return {.id = "writer-convoy",
          .severity = share(worst) >= kSevereShare ? "fail" : "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"wait_ratio", share(worst)},
                      {"contended_ratio", static_cast<double>(waits.contended) /
                                              static_cast<double>(std::max<Count>(waits.acquired, 1))},
                      {"wait_s", waits.seconds},
                      {"behind_writers", static_cast<double>(times_of(writers))}},
          .remedy = fmt::format("Call {} less often, on larger ranges, or outside the time of the reads{}.",
                                writers.front().syscall,
                                record.host.per_vma_locks == false
                                    ? ", or run a kernel with per-VMA locks (6.7 or later for files)"
                                    : ""),
          .source = "OpenSearch issue 20933"};
}

std::vector<Finding> judge_lock(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, is_writer_convoy))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

}

bool is_writer_convoy(const Row& row) {
  if (!may_be_judged(row) || !row.mmap_lock || !row.mmap_lock->read || !row.mmap_lock->holders) return false;
  if (readers_share(row) < kShare) return false;
  const auto by_writers = static_cast<double>(times_of(writers_of(row)));
  return by_writers > 0 && by_writers >= kByWriters * static_cast<double>(times_of(*row.mmap_lock->holders));
}

extern const FindingRule writer_convoy;
const FindingRule writer_convoy{
    "writer-convoy", "faults stand in line behind a call that holds mmap_lock for writing: whose, how long",
    judge_lock, over_totals<judge_lock>};

}
