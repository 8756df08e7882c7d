// Findings from the page ledger, the faults and the lock: each with a record that makes it fire, and the
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

bool silent(RunRecord record, std::string_view id) {
  summarise(record);
  return fired(record, id).empty();
}

// mmap-random as the ledger sees it: 80 faults an op, each of which brings in its own page.
Row serial_row(std::uint32_t threads) {
  Row row = mmap_random_row("mmap-random", threads, kOps);
  row.page_cache->by = {.fault = 9600, .readahead = 0, .hint = 0, .read = 0, .other = 0};
  row.syscalls.emplace();
  return row;
}

Row hinting_row() {
  Row row = hinted_row(1, {650, 655, 640, 645, 651, 652});
  row.syscalls = {{.name = "madvise", .calls = 10400, .lat_ns = latencies(10400, 5'000)}};
  return row;
}

// Four threads that wait 0.4 s of their 4 s.
Row waiting_row() {
  Row row = serial_row(4);
  row.mmap_lock.emplace();
  row.mmap_lock->read = lock_side(9600, 100, 4'194'304);
  row.mmap_lock->write = lock_side(50, 0, 0);
  return row;
}

}

TEST_CASE("readahead-waste: what was read ahead, what of it was used, and what mmap-random does there") {
  RunRecord record = record_of({waste_row(1, {5, 5, 6, 5, 5, 5}), serial_row(1)});
  CHECK(
      only_sentence(record, "readahead-waste") ==
      "fail: readahead is wasted in mmap: of 10000 pages that it brought in, 97.5 % were never used, and the "
      "device "
      "delivered 31.7 times the bytes asked for (cold random T01); the effective readahead of vda1 is 8 MiB; "
      "mmap-random asks the device for 25.4 times less and is 24.0 times as fast there. Advise the mapping "
      "MADV_RANDOM, or lower read_ahead_kb of vda1.");
  CHECK(fired(record, "readahead-waste")[0].numbers.at("wasted_pages") == 9750);
}

TEST_CASE("readahead-waste: without a proof nothing is said of speed") {
  RunRecord record = record_of({waste_row(1, {5, 5, 6}), serial_row(1)});
  std::string text = only_sentence(record, "readahead-waste");
  CHECK(text.find("25.4 times less.") != std::string::npos);
  CHECK(text.find("as fast") == std::string::npos);
}

TEST_CASE("readahead-waste: a ledger that does not know what was used still bounds it") {
  RunRecord record = record_of({waste_row(1, kOps)});
  record.rows[0].page_cache->wasted_by.readahead = record.rows[0].page_cache->wasted_pages = std::nullopt;
  // 120 ops x 16 reads touch at most 5 pages each: 9600 of 240000.
  CHECK(only_sentence(record, "readahead-waste")
            .find("240000 pages that it brought in, at least 96 % were never used") != std::string::npos);
}

TEST_CASE("readahead-waste: for pread the remedy is the descriptor's") {
  Row row = waste_row(1, kOps);
  row.strategy = "pread";
  row.page_cache->by.fault = 0;
  row.faults->mapped->count = row.faults->read->count = 0;
  CHECK(fired(record_of({row}), "readahead-waste").at(0).remedy ==
        "Advise the descriptor POSIX_FADV_RANDOM, or lower read_ahead_kb of vda1.");
}

TEST_CASE("readahead-waste is silent where the pages are used, or nobody knows") {
  auto quiet = [](auto change) {
    Row row = waste_row(1, kOps);
    change(row);
    return silent(record_of({row}), "readahead-waste");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(silent(record_of({serial_row(1)}), "readahead-waste"));
  CHECK(quiet([](Row& row) { row.pattern = "sequential"; }));
  CHECK(quiet([](Row& row) { row.page_cache->wasted_by.readahead = 119'000; }));  // of 240000
  CHECK(quiet([](Row& row) { row.device_bytes = row.requested_bytes * 19 / 10; }));
  CHECK(quiet([](Row& row) { row.page_cache->by.readahead = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.page_cache = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.error = "EIO"; }));
  CHECK(quiet([](Row& row) {
    for (Repetition& rep : row.untraced->reps) rep.drifted = true;
  }));
}

TEST_CASE("major-faults-serial: how many faults a read takes, how long each waits, and what a hint gains") {
  CHECK(only_sentence(record_of({serial_row(1), hinting_row()}), "major-faults-serial") ==
        "warn: mmap-random waits for one page after the other: 9600 faults that read one page each in 1920 "
        "reads of "
        "16 KiB, 5.00 per read, 100 us each on average (cold random T01); mmap-random-willneed, which hints "
        "first, is "
        "5.42 times as fast there. Hint the whole range before touching it (MADV_WILLNEED, "
        "MADV_POPULATE_READ), or "
        "read it by pread.");
  // Without a proof, no speed.
  CHECK(only_sentence(record_of({serial_row(1), serial_row(4)}), "major-faults-serial").find("as fast") ==
        std::string::npos);
}

TEST_CASE("major-faults-serial is silent where hints are given, or a fault reads more than its page") {
  auto quiet = [](auto change) {
    Row row = serial_row(1);
    change(row);
    return silent(record_of({row}), "major-faults-serial");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.expects.hints = true; }));
  CHECK(quiet([](Row& row) { row.madvise = {{.advice = "WILLNEED", .calls = 1}}; }));
  CHECK(quiet([](Row& row) { row.page_cache->by.readahead = 9600; }));
  CHECK(quiet([](Row& row) { row.page_cache->by.fault = 9000; }));
  CHECK(quiet([](Row& row) { row.page_cache->by.fault = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.faults->read = std::nullopt; }));
  // Reads of one page: two faults at most, and hardly ever two.
  CHECK(quiet([](Row& row) { row.faults->read->count = row.page_cache->by.fault.emplace(1920 * 2 - 1); }));
}

TEST_CASE("mmap-lock-wait: how much of the time, who waits, who holds") {
  RunRecord record = record_of({waiting_row()});
  CHECK(only_sentence(record, "mmap-lock-wait") ==
        "warn: mmap-random waits for mmap_lock, 10.5 % of its threads' time (cold random T04); readers "
        "waited in 100 of "
        "9600 acquisitions, p99 4.19 ms, longest 4.19 ms. Map, unmap and advise less often, on larger "
        "ranges, or "
        "outside the time of the reads.");

  record.rows[0].mmap_lock->holders = {{"reader", "page fault", 97}, {"churn", "munmap", 3}};
  auto finding = fired(record, "mmap-lock-wait").at(0);
  CHECK(finding.text.ends_with("; held most often by thread reader in page fault (97 times)."));
  CHECK(finding.remedy.starts_with("Map, unmap and advise less often"));

  // Writers that wait behind each other are no convoy of readers.
  RunRecord writers = record;
  writers.rows[0].mmap_lock->read = lock_side(9600, 0, 0);
  writers.rows[0].mmap_lock->write = lock_side(500, 100, 4'194'304);
  writers.rows[0].mmap_lock->holders = {{"churn", "munmap", 97}};
  CHECK(fired(writers, "mmap-lock-wait").at(0).remedy.starts_with("Call munmap less often"));
  CHECK(fired(writers, "writer-convoy").empty());

  record.rows[0].mmap_lock->holders = std::nullopt;
  record.host.per_vma_locks = false;
  CHECK(fired(record, "mmap-lock-wait").at(0).remedy.starts_with("Run a kernel with per-VMA locks"));
  record.rows[0].mmap_lock->write = lock_side(5000, 300, 4'194'304);
  CHECK(fired(record, "mmap-lock-wait").at(0).severity == "fail");
}

TEST_CASE("mmap-lock-wait is silent for a lock that is free, however often it is taken") {
  RunRecord record = record_of({waiting_row()});
  record.rows[0].mmap_lock->read = lock_side(9'000'000, 0, 0);  // 1.8 s of 200 ns each
  CHECK(silent(record, "mmap-lock-wait"));
  record.rows[0].mmap_lock->read = lock_side(9600, 40, 4'194'304);  // 4.2 %
  CHECK(silent(record, "mmap-lock-wait"));
  record.rows[0].mmap_lock->read = std::nullopt;
  CHECK(silent(record, "mmap-lock-wait"));
  record.rows[0].mmap_lock = std::nullopt;
  CHECK(silent(record, "mmap-lock-wait"));
}

TEST_CASE("no-hint-issued: a strategy that is there to hint, and no call") {
  Row row = hinting_row();
  row.madvise->clear();
  row.syscalls->clear();
  CHECK(only_sentence(record_of({row}), "no-hint-issued") ==
        "fail: mmap-random-willneed never hints: no madvise(WILLNEED), fadvise, readahead or process_madvise "
        "call in "
        "10400 reads (cold random T01). Check that the code that hints is reached and allowed to call the "
        "system.");
}

TEST_CASE("no-hint-issued is silent where hints may have been given, or are not expected") {
  auto quiet = [](auto change) {
    Row row = hinting_row();
    row.madvise->clear();
    row.syscalls->clear();
    change(row);
    return silent(record_of({row}), "no-hint-issued");
  };
  CHECK_FALSE(quiet([](Row&) {}));
  CHECK(quiet([](Row& row) { row.hints = Hints{.suppressed = 1}; }));
  CHECK(silent(record_of({hinting_row()}), "no-hint-issued"));
  CHECK(quiet([](Row& row) { row.expects.hints = false; }));
  CHECK(quiet([](Row& row) { row.syscalls = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.madvise = std::nullopt; }));
  CHECK(quiet([](Row& row) { row.madvise = {{.advice = "WILLNEED", .error = "EINVAL", .calls = 1}}; }));
  CHECK(quiet([](Row& row) { row.syscalls = {{.name = "fadvise64", .calls = 1}}; }));
  CHECK(quiet([](Row& row) { row.syscalls = {{.name = "mincore", .calls = 1}}; }));
  CHECK(quiet([](Row& row) { row.probes[1].lost = 1; }));
  CHECK(quiet([](Row& row) { row.traced->reps[0].ops = 0; }));
  // An entry for success without calls is no call.
  CHECK_FALSE(quiet([](Row& row) { row.syscalls = {{.name = "fadvise64", .calls = 0}}; }));
}
