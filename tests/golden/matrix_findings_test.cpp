// Findings that set rows beside each other, beside the device's ceiling, or beside themselves: each with a
// record that makes it fire, and the nearest records that must not.

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string only_sentence(RunRecord record, std::string_view id) {
  summarise(record);
  auto findings = fired(record, id);
  REQUIRE(findings.size() == 1);
  return findings[0].severity + ": " + findings[0].text + " " + findings[0].remedy;
}

bool silent(RunRecord record, std::string_view id) {
  summarise(record);
  return fired(record, id).empty();
}

// pread at 120 ops/s of 256 KiB: 31.5 MB/s from the device, which delivers 33 MB/s in reads of 16 KiB.
RunRecord record_at_ceiling() {
  RunRecord record = record_of({cold_row("pread", 1, kOps)});
  record.ceiling = {
      {16384, 1, 600, 600 * 16384.0}, {16384, 64, 2000, 2000 * 16384.0}, {1 << 20, 16, 95, 95.0 * (1 << 20)}};
  return record;
}

// Four threads that wait 1 s of their 4 s for a mutex and 0.5 s for the disk.
Row mutex_row() {
  Row row = cold_row("filechannel", 4, kOps);
  row.syscalls = {{.name = "futex", .calls = 500, .lat_ns = latencies(500, 2'000'000)}};
  row.time = TimeSplit{.running_s = 2.5, .fault_wait_s = 0, .read_wait_s = 0.5, .lock_wait_s = 1.0};
  return row;
}

// One thread that waits 0.96 s of its second for single pages.
Row waiting_random_row() {
  Row row = mmap_random_row("mmap-random", 1, kOps);
  row.time = TimeSplit{.running_s = 0.04, .fault_wait_s = 0.96, .read_wait_s = 0, .lock_wait_s = 0};
  return row;
}

// What was read ahead pushes 400 pages per op out that come back.
Row polluted_row() {
  Row row = waste_row(1, kOps);
  row.page_cache->evicted_pages = row.page_cache->refault_pages = 400 * kOps[0];
  return row;
}

Row kept_row() {
  Row row = mmap_random_row("mmap-random", 1, kOps);
  row.page_cache->evicted_pages = row.page_cache->refault_pages = 10 * kOps[0];
  return row;
}

}

TEST_CASE("ceiling-reached: how fast, against what") {
  CHECK(only_sentence(record_at_ceiling(), "ceiling-reached") ==
        "info: pread reads as fast as the device delivers: 31.5 MB/s, where O_DIRECT reads reached "
        "32.8 MB/s (cold random T01); another way to read the same bytes can't be faster there. Ask "
        "the device for fewer bytes (less readahead, a larger cache), or use a faster device.");
}

TEST_CASE("ceiling-reached is silent below the ceiling, without one, and for rows of other request sizes") {
  auto quiet = [](auto change) {
    RunRecord record = record_at_ceiling();
    change(record);
    return silent(record, "ceiling-reached");
  };
  CHECK_FALSE(quiet([](RunRecord&) {}));
  CHECK(quiet([](RunRecord& record) { record.ceiling.reset(); }));
  CHECK(quiet([](RunRecord& record) { record.ceiling->at(1).bw_bytes = 36e6; }));
  CHECK(quiet([](RunRecord& record) { record.ceiling->at(1).bw_bytes = 28e6; }));  // it was passed
  CHECK(quiet([](RunRecord& record) { record.rows[0].device_bytes.reset(); }));
  CHECK(quiet([](RunRecord& record) { record.rows[0].error = "EIO"; }));
  // At the ceiling of large requests by reading three times what it asks for: another strategy may read less.
  CHECK(quiet([](RunRecord& record) { record.rows[0].device_bytes = record.rows[0].requested_bytes * 3; }));
}

TEST_CASE("host-cache: how much faster the second pass was") {
  RunRecord record = record_at_ceiling();
  record.second_pass_ratio = 2.3;
  CHECK(only_sentence(record, "host-cache") ==
        "warn: blocks read past the page cache came 2.30 times as fast the second time: something "
        "below this machine caches them, and rows that read from the device may have measured that "
        "cache (cold random T01). Use a file larger than that cache, or measure on the machine that "
        "owns the device.");
  record.second_pass_ratio = 1.9;
  CHECK(silent(record, "host-cache"));
  record.second_pass_ratio.reset();
  CHECK(silent(record, "host-cache"));
  record.second_pass_ratio = 2.3;
  record.rows[0].device_bytes = 0;  // all came from the cache above
  CHECK(silent(record, "host-cache"));
}

TEST_CASE("below-noise: a proven difference that is smaller than the A/A difference") {
  Row control = cold_row("pread", 1, {132, 133, 134, 131, 130, 132});
  control.control = true;
  const Row ahead = cold_row("io_uring", 1, {126, 127, 128, 125, 126, 127});
  RunRecord record = record_of({cold_row("pread", 1, kOps), control, ahead});
  CHECK(only_sentence(record, "below-noise") ==
        "info: io_uring came out 5.4 % ahead of pread (cold random T01), but the same strategy, run "
        "twice, differs by 10.0 % there: no verdict. Measure longer on a quieter machine before "
        "calling either faster (--reps, --duration).");
  // A quieter machine: the same difference is a verdict. A wider one: no test proves it.
  RunRecord quiet = record;
  quiet.rows[1].untraced = measured(kOps);
  CHECK(silent(quiet, "below-noise"));
  RunRecord wide = record;
  wide.rows[2].untraced = measured({110, 137, 128, 115, 126, 127});
  CHECK(silent(wide, "below-noise"));
}

TEST_CASE("lock-not-io: how much of the time, against how much for I/O, and what pread does there") {
  CHECK(only_sentence(record_of({mutex_row(), cold_row("pread", 4, {240, 241, 242, 239, 238, 240})}),
                      "lock-not-io") ==
        "warn: filechannel waits for a mutex, not for the disk: 25 % of its threads' time in futex(2)"
        " against 12.5 % for I/O (cold random T04); pread, without the lock, is 2.00 times as fast "
        "there. Read without a lock around it: pread(2) needs none, nor does a mapping.");
  CHECK(only_sentence(record_of({mutex_row()}), "lock-not-io").find("pread, without") == std::string::npos);
}

TEST_CASE(
    "lock-not-io is silent where I/O hides the lock, where the lock is mmap_lock, and where nobody waits") {
  auto quiet = [](auto change) {
    Row row = mutex_row();
    change(row);
    return silent(record_of({row}), "lock-not-io");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.time->read_wait_s = 1.5; }));
  CHECK(quiet([](Row& row) { row.time->lock_wait_s = 0.1; }));
  CHECK(quiet([](Row& row) { row.time->lock_wait_s = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.time = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.syscalls->clear(); }));
  CHECK(quiet([](Row& row) {
    row.mmap_lock.emplace();
    row.mmap_lock->read = lock_side(1000, 240, 4'194'304);  // 1.007 s
  }));
}

TEST_CASE("random-on-slow-device: how long each page is waited for, and what reading ahead gains") {
  const Row ahead = cold_row("mmap", 1, {600, 601, 602, 599, 598, 600});
  const RunRecord record = record_of({ahead, waiting_random_row()});
  CHECK(only_sentence(record, "random-on-slow-device") ==
        "warn: MADV_RANDOM costs mmap-random its speed: it waits 100 us for each page that it reads, "
        "one page at a time, 96 % of its threads' time; mmap, which reads ahead, is 5.00 times as "
        "fast (cold random T01). Leave files that are read in order, or in large pieces, under "
        "MADV_NORMAL or MADV_SEQUENTIAL.");
  // Without a row that reads ahead, or where that one is the slower, nothing is said.
  CHECK(silent(record_of({waiting_random_row()}), "random-on-slow-device"));
  CHECK(silent(record_of({cold_row("mmap", 1, {5, 5, 6, 5, 5, 5}), waiting_random_row()}),
               "random-on-slow-device"));
  RunRecord busy = record;
  busy.rows[1].time->fault_wait_s = 0.4;
  CHECK(silent(busy, "random-on-slow-device"));
  RunRecord unknown = record;
  unknown.rows[1].faults->read = std::nullopt;
  CHECK(silent(unknown, "random-on-slow-device"));
  RunRecord emulated = record;
  emulated.host.virtualisation = "qemu";
  CHECK(silent(emulated, "random-on-slow-device"));
}

TEST_CASE("readahead-pollutes: what was wasted, what came back, and what comes back without readahead") {
  const RunRecord record = record_of({polluted_row(), kept_row()});
  CHECK(only_sentence(record, "readahead-pollutes") ==
        "warn: readahead in mmap pushes out what is needed again: 96.1 % of all pages were read ahead and "
        "never used, and 400 pages per op were read again after they had left the cache, 10.0 in "
        "mmap-random (cold random T01). Advise the mapping MADV_RANDOM, or lower the device's "
        "read_ahead_kb, so that the cache keeps what is used.");
  CHECK(silent(record_of({polluted_row()}), "readahead-pollutes"));
  auto quiet = [&](auto change) {
    RunRecord changed = record;
    change(changed.rows[0], changed.rows[1]);
    return silent(changed, "readahead-pollutes");
  };
  CHECK(quiet([](Row& polluted, Row&) { polluted.page_cache->refault_pages = 101 * kOps[0]; }));
  CHECK(quiet([](Row& polluted, Row&) { polluted.page_cache->wasted_by.readahead = 1014 * kOps[0]; }));
  CHECK(quiet([](Row& polluted, Row&) { polluted.page_cache->refault_pages = std::nullopt; }));
  CHECK(quiet([](Row&, Row& kept) { kept.page_cache->refault_pages = 201 * kOps[0]; }));
  CHECK(quiet([](Row&, Row& kept) { kept.page_cache = std::nullopt; }));
}
