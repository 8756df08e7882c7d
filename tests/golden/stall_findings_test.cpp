// Where threads stop for a lock or for memory, as findings: each with a record that makes it fire, and the
// nearest records that must not.

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string only_sentence(const RunRecord& record, std::string_view id) {
  auto findings = fired(record, id);
  REQUIRE(findings.size() == 1);
  return findings[0].severity + ": " + findings[0].text + " " + findings[0].remedy;
}

bool silent(const RunRecord& record, std::string_view id) {
  return fired(record, id).empty();
}

// Four threads that wait 0.42 s of their 4 s, behind a thread that maps and unmaps.
Row convoy_row() {
  Row row = mmap_random_row("mmap-random", 4, kOps);
  row.mmap_lock.emplace();
  row.mmap_lock->read = lock_side(9600, 100, 4'194'304);
  row.mmap_lock->write = lock_side(50, 0, 0);
  row.mmap_lock->holders = {{"churn", "munmap", 90}, {"churn", "mmap", 7}, {"reader", "page fault", 3}};
  return row;
}

// Four threads that free memory 500 times in their second, 1 ms each.
Row reclaiming_row() {
  Row row = mmap_random_row("mmap-random", 4, kOps);
  row.reclaim = Reclaim{.direct_stalls = 500,
                        .cgroup_stalls = 500,
                        .stall_ns = latencies(500, 1'000'000),
                        .reclaimed_pages = 16'000,
                        .tlb_shootdowns = 0,
                        .swap_in_pages = 0};
  return row;
}

RunRecord swapping() {
  RunRecord record = record_of({reclaiming_row()});
  record.host.swap_bytes = 1ull << 30;
  record.rows[0].reclaim->swap_in_pages = 1'234;
  return record;
}

}

TEST_CASE("writer-convoy: how much of the time, how many wait, behind whom") {
  RunRecord record = record_of({convoy_row()});
  CHECK(only_sentence(record, "writer-convoy") ==
        "warn: mmap-random stands in line behind writers of mmap_lock, 10.5 % of its threads' time (cold "
        "random "
        "T04): 100 of 9600 acquisitions as reader waited, 0.419 s in all, p99 4.19 ms; held for writing by "
        "thread churn in munmap (90 times) and mmap (7 times). Call munmap less often, on larger ranges, or "
        "outside the time of the reads.");
  CHECK(fired(record, "writer-convoy")[0].numbers.at("behind_writers") == 97);
  // One sentence for one queue.
  CHECK(silent(record, "mmap-lock-wait"));

  record.rows[0].mmap_lock->write->hold_ns = latencies(50, 3'000'000);
  record.host.per_vma_locks = false;
  const Finding old_kernel = fired(record, "writer-convoy").at(0);
  CHECK(old_kernel.text.ends_with(
      "(7 times), for 3.00 ms at p99; without per-VMA locks every fault needs it."));
  CHECK(old_kernel.remedy.ends_with("or run a kernel with per-VMA locks (6.7 or later for files)."));
  record.rows[0].mmap_lock->read = lock_side(9600, 300, 4'194'304);
  CHECK(fired(record, "writer-convoy").at(0).severity == "fail");
}

TEST_CASE("writer-convoy: madvise holds the lock for writing where its advice changes the mapping") {
  Row row = convoy_row();
  row.mmap_lock->holders = {{"merge", "madvise", 97}};
  row.madvise = {{.advice = "WILLNEED", .calls = 97}, {.advice = "POPULATE_READ", .calls = 97}};
  CHECK(silent(record_of({row}), "writer-convoy"));
  CHECK_FALSE(silent(record_of({row}), "mmap-lock-wait"));
  row.madvise->push_back({.advice = "SEQUENTIAL", .calls = 97});
  CHECK(only_sentence(record_of({row}), "writer-convoy").find("thread merge in madvise (97 times)") !=
        std::string::npos);
}

TEST_CASE("writer-convoy is silent where readers don't wait, or behind holders that nobody saw") {
  auto quiet = [](auto change) {
    Row row = convoy_row();
    change(row);
    return silent(record_of({row}), "writer-convoy");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.mmap_lock->read = lock_side(9600, 40, 4'194'304); }));  // 4.2 %
  CHECK(quiet([](Row& row) { row.mmap_lock->read = lock_side(9'000'000, 0, 0); }));
  CHECK(quiet([](Row& row) { row.mmap_lock->read = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.mmap_lock->holders = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.mmap_lock->holders->clear(); }));
  CHECK(quiet([](Row& row) { row.mmap_lock->holders->at(2).times = 100; }));  // faults, more often
  CHECK(quiet([](Row& row) { row.mmap_lock = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.error = "EIO"; }));
}

TEST_CASE("direct-reclaim: how often, how long, how much of the time") {
  CHECK(only_sentence(record_of({reclaiming_row()}), "direct-reclaim") ==
        "info: threads stop to free memory before they can read: 500 direct reclaims per second, 1.00 ms "
        "each on "
        "average, 12.5 % of the threads' time (mmap-random cold random T04, memory limit 512 MiB). Raise the "
        "memory limit of its cgroup (memory.max), or let fewer pages in: MADV_RANDOM, a smaller readahead, "
        "O_DIRECT.");
  // Nobody took memory away on purpose.
  Row without_limit = reclaiming_row();
  without_limit.cell.memory_limit_bytes.reset();
  without_limit.reclaim->cgroup_stalls = 250;
  const std::string text = only_sentence(record_of({without_limit}), "direct-reclaim");
  CHECK(text.starts_with("warn: "));
  CHECK(text.find(" (mmap-random cold random T04). Give the machine more memory") != std::string::npos);
}

TEST_CASE("direct-reclaim: what ran out is what to have more of") {
  auto remedy = [](std::optional<Count> cgroup_stalls) {
    Row row = reclaiming_row();
    row.reclaim->cgroup_stalls = cgroup_stalls;
    return fired(record_of({row}), "direct-reclaim").at(0).remedy;
  };
  CHECK(remedy(0).starts_with("Give the machine more memory"));
  CHECK(remedy(250).starts_with("Give the machine more memory"));
  CHECK(remedy(251).starts_with("Raise the memory limit of its cgroup (memory.max)"));
  // A record of before they were told apart.
  CHECK(remedy(std::nullopt)
            .starts_with("Give the reader more memory (its cgroup's memory.max, or the machine's)"));
}

TEST_CASE("direct-reclaim: the row that loses most speaks for all") {
  Row less = reclaiming_row();
  less.strategy = "pread";
  less.reclaim->stall_ns = latencies(500, 100'000);
  const RunRecord record = record_of({less, reclaiming_row()});
  CHECK(only_sentence(record, "direct-reclaim")
            .find("mmap-random cold random T04, memory limit 512 MiB); less "
                  "in 1 other row.") != std::string::npos);
  CHECK(fired(record, "direct-reclaim")[0].rows == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("direct-reclaim is silent where it costs nothing, or nobody knows") {
  auto quiet = [](auto change) {
    Row row = reclaiming_row();
    change(row);
    return silent(record_of({row}), "direct-reclaim");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.reclaim->stall_ns = latencies(39, 1'000'000); }));  // of 4 s
  CHECK(quiet([](Row& row) { row.reclaim->direct_stalls = 0; }));
  CHECK(quiet([](Row& row) { row.reclaim->direct_stalls = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.reclaim->stall_ns = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.reclaim = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.error = "EIO"; }));
}

TEST_CASE("swap-in: how many pages, how fast, where") {
  CHECK(only_sentence(swapping(), "swap-in") ==
        "warn: the reader's own memory is swapped: 1234 pages came back from swap while it read, 1234 per "
        "second "
        "(mmap-random cold random T04). Keep it out of swap: mlock what is needed, memory.swap.max=0 for its "
        "cgroup, or a lower vm.swappiness.");
}

TEST_CASE("swap-in is silent without swap, for a few pages, and where nobody knows") {
  auto quiet = [](auto change) {
    RunRecord record = swapping();
    change(record);
    return silent(record, "swap-in");
  };
  CHECK_FALSE(quiet([](RunRecord&) {}));
  CHECK(quiet([](RunRecord& record) { record.host.swap_bytes = 0; }));
  CHECK(quiet([](RunRecord& record) { record.rows[0].reclaim->swap_in_pages = 15; }));
  CHECK(quiet([](RunRecord& record) { record.rows[0].reclaim->swap_in_pages = std::nullopt; }));
  CHECK(quiet([](RunRecord& record) { record.rows[0].reclaim = std::nullopt; }));
  CHECK(quiet([](RunRecord& record) { record.rows[0].error = "EIO"; }));
}
