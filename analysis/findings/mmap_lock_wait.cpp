// mmap-lock-wait: threads queue for the lock of their address space. Met in OpenSearch issue 20933: a thread
// that maps, advises and unmaps holds mmap_lock for writing, and every fault that needs it stands in line:
// searches stall at half the CPU, and no profile shows why.
//
// Only acquisitions that had to wait count, never the time that taking a free lock takes. Readers that wait
// for a writer that is known are a finding of their own, writer-convoy.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/writer_convoy.h"
#include "analysis/format.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

// Of the reader threads' time; what one might win by ending the queue.
constexpr double kShare = 0.05;
constexpr double kSevereShare = 0.25;

double share_of(const Row& row) {
  double seconds = time_total(row), waited = 0;
  for (const auto& side : {row.mmap_lock->read, row.mmap_lock->write})
    if (side) waited += contended_waits(*side).seconds;
  return seconds > 0 ? waited / seconds : 0;
}

bool waits(const Row& row) {
  return may_be_judged(row) && row.mmap_lock && share_of(row) >= kShare && !is_writer_convoy(row);
}

// "readers waited in 120 of 5000 acquisitions, p99 1.2 ms, longest 3.4 ms"
std::string side_text(std::string_view who, const std::optional<LockSide>& side) {
  if (!side || side->contended == 0) return {};
  LockWaits waits = contended_waits(*side);
  std::string text =
      fmt::format("; {} waited in {} of {} acquisitions", who, waits.contended, waits.acquired);
  if (waits.p99_ns && waits.longest_ns)
    text += fmt::format(", p99 {}, longest {}", human_ns(static_cast<double>(*waits.p99_ns)),
                        human_ns(static_cast<double>(*waits.longest_ns)));
  return text;
}

const LockHolder* top_holder(const Row& row) {
  if (!row.mmap_lock->holders || row.mmap_lock->holders->empty()) return nullptr;
  return &*std::ranges::max_element(*row.mmap_lock->holders, {}, &LockHolder::times);
}

std::string remedy_for(const Host& host, const LockHolder* holder) {
  // Neither faults nor calls that nobody named can be called less often.
  if (holder && holder->syscall != "page fault" && holder->syscall != "another call")
    return fmt::format("Call {} less often, on larger ranges, or outside the time of the reads (thread {}).",
                       holder->syscall, holder->thread);
  if (host.per_vma_locks == false)
    return "Run a kernel with per-VMA locks (6.7 or later for files), or map and unmap less often.";
  return "Map, unmap and advise less often, on larger ranges, or outside the time of the reads.";
}

// One row a strategy speaks for all: the one that waits most.
Finding finding_for(const RunRecord& record, const std::string& strategy, const RowIndexes& rows) {
  auto share = [&](std::uint32_t index) { return share_of(record.rows[index]); };
  std::uint32_t worst = *std::ranges::max_element(rows, {}, share);
  const Row& row = record.rows[worst];
  const LockHolder* holder = top_holder(row);
  std::string text =
      fmt::format("{} waits for mmap_lock, {} of its threads' time ({}){}{}", strategy, percent(share(worst)),
                  name_cells(record, {worst}), side_text("readers", row.mmap_lock->read),
                  side_text("writers", row.mmap_lock->write));
  if (holder)
    text += fmt::format("; held most often by thread {} in {} ({} times)", holder->thread, holder->syscall,
                        holder->times);
  if (rows.size() > 1) text += fmt::format("; less in {}", counted(rows.size() - 1, "other row"));
  auto contended = [&](const std::optional<LockSide>& side) {
    return side ? static_cast<double>(side->contended) : 0.0;
  };
  return {.id = "mmap-lock-wait",
          .severity = share(worst) >= kSevereShare ? "fail" : "warn",
          .rows = rows,
          .text = text + ".",
          .numbers = {{"wait_ratio", share(worst)},
                      {"readers_contended", contended(row.mmap_lock->read)},
                      {"writers_contended", contended(row.mmap_lock->write)}},
          .remedy = remedy_for(record.host, holder),
          .source = "OpenSearch issue 20933"};
}

std::vector<Finding> judge_lock(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const auto& [strategy, rows] : rows_by_strategy(record, waits))
    findings.push_back(finding_for(record, strategy, rows));
  return findings;
}

}

extern const FindingRule mmap_lock_wait;
const FindingRule mmap_lock_wait{
    "mmap-lock-wait", "threads queue for the lock of their address space: how long, and behind whom",
    judge_lock, over_totals<judge_lock>};

}
