// The hint card, and what --details adds, byte for byte. IOTRACE_UPDATE_GOLDEN=1 writes the expected texts
// anew: read the diff.

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "analysis/reports/report.h"
#include "analysis/text.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string rendered(std::string_view name, const RunRecord& record, bool details) {
  for (const ReportFormat& format : report_formats())
    if (format.name == name) return format.render(record, {.details = details});
  FAIL("no such format");
  return {};
}

Histogram numbers(std::initializer_list<std::uint64_t> values) {
  Histogram histogram(kKernelSubBits);
  for (std::uint64_t value : values) histogram.add(value);
  return histogram;
}

// A hinting row of which everything is known.
Row known_row() {
  Row row = hinted_row(4, {650, 655, 640, 645, 651, 652});
  row.hints = Hints{.issued = 10400,
                    .rejected = 104,
                    .suppressed = 0,
                    .in_time_pages = 31'200,
                    .late_pages = 19'500,
                    .needless_pages = 650,
                    .useless_pages = 65,
                    .truncated_pages = 0,
                    .suppressed_absent_pages = 0};
  row.faults->retried = 13;
  row.faults->mapped_pages = 104'000;
  row.faults->around_pages = numbers({16, 16, 16});
  row.faults->blocked_threads_avg = 2.75;
  row.faults->blocked_threads_max = 4;
  row.faults->longest = {{612'345, 40'960, 4711, "reader-0", "read"},
                         {512'000, std::nullopt, 4712, "reader-1", "other"}};
  row.block_io = BlockIo{.reads = 13'000,
                         .read_bytes = 13'000ull * 16384,
                         .lat_ns = latencies(13'000, 150'000),
                         .request_bytes = latencies(13'000, 16'384),
                         .queue_depth = numbers({1, 2, 5, 8}),
                         .unplaced = 0};
  row.readahead = Readahead{.sync = 1300,
                            .async = 650,
                            .window_pages = numbers({4, 32, 32}),
                            .orders = std::map<std::uint32_t, Count>{{0, 1300}, {2, 650}},
                            .mmap_miss_max = 7};
  row.reclaim = Reclaim{.direct_stalls = 65,
                        .cgroup_stalls = 65,
                        .stall_ns = latencies(65, 400'000),
                        .reclaimed_pages = 2'080,
                        .tlb_shootdowns = 130,
                        .swap_in_pages = 0};
  row.page_cache->evicted_pages = 2'600;
  row.page_cache->evicted_age_ns = latencies(2'600, 300'000'000);
  row.mmap_lock.emplace();
  row.mmap_lock->read = lock_side(20'800, 3, 40'000);
  row.mmap_lock->write = lock_side(100, 0, 0);
  row.mmap_lock->read->hold_ns = latencies(20'800, 2'000);
  row.mmap_lock->write->hold_ns = latencies(100, 30'000);
  row.mmap_lock->read->slow_path = 3;
  row.mmap_lock->write->slow_path = 0;
  row.mmap_lock->holders = {{"churn", "munmap", 3}};
  return row;
}

// One that withholds hints, on a kernel where some numbers can't be had.
Row partly_known_row() {
  Row row = hinted_row(1, {650, 655, 640, 645, 651, 652});
  row.strategy = "mmap-random-willneed-backoff";
  row.hints = Hints{.issued = 400,
                    .rejected = 0,
                    .suppressed = 10'000,
                    .in_time_pages = 1'300,
                    .needless_pages = 0,
                    .useless_pages = 0,
                    .truncated_pages = 65,
                    .suppressed_absent_pages = 650};
  row.unavailable["hints.late_pages"] = "the faults probe is not attached";
  row.block_io = BlockIo{.reads = 6'500, .lat_ns = latencies(6'500, 90'000), .unplaced = 2};
  row.unavailable["block_io"] = "no event at a request's start";
  return row;
}

RunRecord detailed_record() {
  RunRecord record =
      record_of({known_row(), partly_known_row(), hinted_row(1, {650, 655, 640, 645, 651, 652}),
                 cold_row("pread", 1, {500, 505, 510, 495, 498, 501})});
  record.findings = judge(record);
  return record;
}

}

TEST_CASE("terminal: what became of the hints, and the details behind the option") {
  const std::string text = rendered("terminal", detailed_record(), true);
  for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1) {
    const std::string line = text.substr(start, text.find('\n', start) - start);
    INFO(line);
    CHECK(display_width(line) <= 100);
    CHECK(!line.ends_with(' '));
  }
  CHECK(text == expected_text("terminal_details.txt", text));
}

TEST_CASE("markdown: what became of the hints, and the details behind a fold") {
  const std::string text = rendered("markdown", detailed_record(), true);
  CHECK(text == expected_text("details.md", text));
}

TEST_CASE("the hint card needs no option, and the details stand only behind theirs") {
  for (const char* format : {"terminal", "markdown"}) {
    const std::string text = rendered(format, detailed_record(), false);
    CHECK(text.find("what became of the hints") != std::string::npos);
    CHECK(text.find("requests to the device") == std::string::npos);
    CHECK(text.find("longest faults") == std::string::npos);
  }
}

TEST_CASE("no hint card where nobody hints, and no details where nothing was counted") {
  Row row = cold_row("pread", 1, {500, 505});
  row.hints = Hints{.issued = 0, .rejected = 0, .suppressed = 0};
  for (const char* format : {"terminal", "markdown"}) {
    const std::string text = rendered(format, record_of({row}), true);
    CHECK(text.find("what became of the hints") == std::string::npos);
    CHECK(text.find("requests to the device") == std::string::npos);
  }
  CHECK(rendered("terminal", record_of({row}), true).find("\nno details: the record holds none") !=
        std::string::npos);
}
