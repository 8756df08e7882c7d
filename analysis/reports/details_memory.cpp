// Who held mmap_lock and for how long; what the threads paid for memory.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/reports/detail_tables.h"
#include "analysis/reports/row_table.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

// "churn in munmap, 97"
std::string most_often(const std::vector<LockHolder>& holders) {
  const auto top = std::ranges::max_element(holders, {}, &LockHolder::times);
  return top == holders.end()
             ? ""
             : fmt::format("{} in {}, {}", printable(top->thread), printable(top->syscall), top->times);
}

void add_side(RowTable& table, const std::optional<LockSide>& side, const std::string& key) {
  const std::optional<Histogram> holds = side ? side->hold_ns : std::nullopt;
  for (double q : {0.99, 1.0})
    table.add_known(holds, key + ".hold_ns", [&](const Histogram& ns) { return ns_text(ns, q); });
  table.add_known(side ? side->slow_path : std::nullopt, key + ".slow_path", count_text);
}

bool held(const MmapLock& lock) {
  return (lock.read && lock.read->acquired > 0) || (lock.write && lock.write->acquired > 0);
}

std::string share_text(const Row& row, const Histogram& stalls) {
  const double seconds = thread_seconds(row, row.traced);
  return stalls.count() > 0 && seconds > 0 ? percent(static_cast<double>(stalls.sum()) / 1e9 / seconds) : "";
}

bool anything_paid(const Row& row) {
  const Reclaim reclaim = row.reclaim.value_or(Reclaim{});
  return reclaim.direct_stalls.value_or(0) + reclaim.tlb_shootdowns.value_or(0) +
                 reclaim.swap_in_pages.value_or(0) >
             0 ||
         (row.page_cache && row.page_cache->evicted_pages.value_or(0) > 0);
}

}

std::optional<ResponseTable> lock_details(const RunRecord& record, const Shown& shown) {
  RowTable table(
      "mmap_lock: how long it was held, the kernel's slow path, who held it when others wanted it",
      {"readers\np99", "longest", "slow\npath", "writers\np99", "longest", "slow\npath", "waited for most"});
  for (std::uint32_t index : shown) {
    const Row& row = record.rows[index];
    if (!row.mmap_lock || !held(*row.mmap_lock)) continue;
    table.start_row(row);
    add_side(table, row.mmap_lock->read, "mmap_lock.read");
    add_side(table, row.mmap_lock->write, "mmap_lock.write");
    table.add_known(row.mmap_lock->holders, "mmap_lock.holders", most_often);
  }
  return std::move(table).finish();
}

std::optional<ResponseTable> memory_details(const RunRecord& record, const Shown& shown) {
  RowTable table("memory: pages that left, and direct reclaim in the reader's threads (stalls)",
                 {"left\n/op", "age\np50", "stalls\n/op", "p99", "of\ntime", "freed\n/op", "shootdowns\n/op",
                  "swapped in\n/op"});
  for (std::uint32_t index : shown) {
    const Row& row = record.rows[index];
    if (!anything_paid(row)) continue;
    const PageCache pages = row.page_cache.value_or(PageCache{});
    const Reclaim reclaim = row.reclaim.value_or(Reclaim{});
    table.start_row(row);
    table.add_per_op(pages.evicted_pages, "page_cache.evicted_pages");
    table.add_known(pages.evicted_age_ns, "page_cache.evicted_age_ns",
                    [](const Histogram& ages) { return ns_text(ages, 0.5); });
    table.add_per_op(reclaim.direct_stalls, "reclaim.direct_stalls");
    table.add_known(reclaim.stall_ns, "reclaim.stall_ns",
                    [](const Histogram& stalls) { return ns_text(stalls, 0.99); });
    table.add_known(reclaim.stall_ns, "reclaim.stall_ns",
                    [&](const Histogram& stalls) { return share_text(row, stalls); });
    table.add_per_op(reclaim.reclaimed_pages, "reclaim.reclaimed_pages");
    table.add_per_op(reclaim.tlb_shootdowns, "reclaim.tlb_shootdowns");
    table.add_per_op(reclaim.swap_in_pages, "reclaim.swap_in_pages");
  }
  return std::move(table).finish();
}

}
