// The terminal report, byte for byte. IOTRACE_UPDATE_GOLDEN=1 writes the expected texts anew: read the diff.

#include <algorithm>

#include <catch2/catch.hpp>

#include "analysis/findings/finding.h"
#include "analysis/reports/report.h"
#include "analysis/text.h"
#include "tests/golden/example_record.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string terminal(const RunRecord& record, const ReportOptions& options = {}) {
  for (const ReportFormat& format : report_formats())
    if (format.name == "terminal") return format.render(record, options);
  FAIL("no terminal report");
  return {};
}

RunRecord finished(RunRecord record) {
  summarise(record);
  record.findings = judge(record);
  return record;
}

// Every kind of row: ranked, not told apart, the control, drifted, an error.
RunRecord cold_record() {
  RunRecord record = example_record();
  record.rows = {mmap_random_row("mmap-random", 1, {120, 121, 122, 119, 118, 120}),
                 mmap_random_row("mmap-random", 4, {400, 410, 405, 395, 402, 403}),
                 misaligned_row(1, {120, 121, 122, 119, 118, 121}),
                 misaligned_row(4, {401, 409, 405, 395, 402, 404}),
                 hinted_row(1, {650, 655, 640, 645, 651, 652}),
                 hinted_row(4, {1000, 1010, 1020, 1005, 990, 995}),
                 cold_row("pread", 1, {500, 505, 510, 495, 498, 501}),
                 cold_row("pread", 4, {1001, 1011, 1021, 1004, 991, 996}),
                 cold_row("pread", 1, {502, 506, 514, 497, 499, 503}),
                 cold_row("pread", 4, {1011, 1021, 1031, 1014, 999, 1006}),
                 cold_row("mmap", 1, {9000, 9100, 9200, 9050, 9070, 9080}),
                 cold_row("direct", 1, {1})};
  record.rows[8].control = record.rows[9].control = true;
  record.rows[10].untraced = measured({9000, 9100, 9200, 9050, 9070, 9080}, 0.98);
  record.rows[10].device_bytes = 2ull << 30;  // in one second
  record.rows[11].untraced = record.rows[11].traced = std::nullopt;
  record.rows[11].error = "open with O_DIRECT: EINVAL (Invalid argument); this file system has no O_DIRECT";
  return finished(record);
}

void check_width(const std::string& text) {
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = text.find('\n', start);
    INFO(text.substr(start, end - start));
    CHECK(display_width(text.substr(start, end - start)) <= 100);
    CHECK((end == start || text[end - 1] != ' '));
    start = end + 1;
  }
}

}

TEST_CASE("terminal: a cold table with every kind of row") {
  std::string text = terminal(cold_record());
  check_width(text);
  CHECK(text == expected_text("terminal_cold.txt", text));
}

TEST_CASE("terminal: what the cache answered is named, beside what the device delivers") {
  Row warm = cold_row("pread", 1, kOps);  // 31.5 MB/s asked for
  warm.device_bytes = 0;
  RunRecord record = record_of({warm});
  record.ceiling = {{16384, 64, 1000, 16.4e6}};
  CHECK(terminal(record).find(
            "from the cache, not the device: pread T01: more per second than the 16.4 MB/s") !=
        std::string::npos);
  record.ceiling->at(0).bw_bytes = 40e6;
  CHECK(terminal(record).find("from the cache") == std::string::npos);
  record.ceiling->at(0).bw_bytes = 16.4e6;
  record.rows[0].device_bytes = record.rows[0].requested_bytes;
  CHECK(terminal(record).find("from the cache") == std::string::npos);
}

TEST_CASE("terminal: a row that never settled says so, one that did in most repetitions does not") {
  RunRecord record = record_of({cold_row("pread", 1, kOps), cold_row("direct", 1, kOps)});
  CHECK(terminal(record).find("never settled") == std::string::npos);
  for (int rep : {0, 1, 2}) record.rows[0].untraced->reps[rep].settled = false;
  record.rows[1].untraced->reps[0].settled = false;
  CHECK(terminal(record).find("never settled: pread T01: the rate still changed") != std::string::npos);
}

TEST_CASE("an emulated processor is named in the head: timings don't hold there") {
  const std::string note = "The processor is emulated (QEMU's TCG): counts hold, timings don't.";
  auto markdown = std::ranges::find(report_formats(), "markdown", &ReportFormat::name);
  for (const char* host : {"qemu", "kvm", "none"}) {
    INFO(host);
    RunRecord record = record_of({cold_row("pread", 1, kOps)});
    record.host.virtualisation = host;
    const bool emulated = record.host.virtualisation == "qemu";
    CHECK((terminal(record).find('\n' + note + "\nhost ") != std::string::npos) == emulated);
    CHECK((markdown->render(record, {}).find("counts hold") != std::string::npos) == emulated);
  }
}

TEST_CASE("terminal: colour changes nothing but escapes") {
  std::string text = terminal(cold_record(), {.colour = true});
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\033')
      i = text.find('m', i);
    else
      plain += text[i];
  CHECK(plain == terminal(cold_record()));
  CHECK(text != plain);
}

TEST_CASE("terminal: an interrupted run of few repetitions, losses, a foreign file name") {
  RunRecord record = example_record();
  record.partial = true;
  record.file.path = "/data/\033[2Jbooks";
  record.file.scratch = false;
  record.file.read_ahead_bytes = std::nullopt;
  record.options.duration_s = 0.3;
  record.rows = {mmap_random_row("mmap-random", 1, {120, 121, 122}), cold_row("pread", 1, {500, 505})};
  record.rows[0].probes = {{.name = "faults", .variant = "perf", .lost = 7, .unmatched = 1},
                           {.name = "syscalls", .reason = "attach raw_tp: EPERM; run with sudo"}};
  record.rows[0].madvise = std::nullopt;
  record.rows[0].expects.hints = true;
  record.rows[0].unavailable = {{"madvise", "probe syscalls is not attached"},
                                {"faults.under_mmap_lock", "needs the mmap_lock probe"}};
  record.rows[0].faults->under_mmap_lock = std::nullopt;
  std::string text = terminal(finished(record));
  check_width(text);
  CHECK(text == expected_text("terminal_partial.txt", text));
}

TEST_CASE("terminal: rows of which nothing is known") {
  RunRecord record = example_record();
  Row row;
  row.strategy = "mmap";
  row.case_name = "as-is";
  row.pattern = "random";
  row.read_size_bytes = 4096;
  row.reads_per_op = 1;
  record.rows = {row};
  std::string text = terminal(finished(record));
  check_width(text);
  CHECK(text == expected_text("terminal_unknown.txt", text));
}

TEST_CASE("terminal: without probes") {
  RunRecord record = example_record();
  record.options.traced_reps = 0;
  record.rows = {cold_row("pread", 1, {500, 505, 510, 495, 498, 501})};
  Row& row = record.rows[0];
  row.traced = std::nullopt;
  row.madvise = std::nullopt;
  row.faults = std::nullopt;
  row.probes.clear();
  row.counters_from = "untraced";
  row.requested_bytes = *row.device_bytes = 3009 * kOpBytes;
  row.unavailable = {{"faults", "--probes off"}, {"observer_cost_ratio", "--probes off"}};
  std::string text = terminal(finished(record));
  check_width(text);
  CHECK(text == expected_text("terminal_without_probes.txt", text));
}

TEST_CASE("terminal: four thread counts and long names stay within the width") {
  RunRecord record = example_record();
  for (std::uint32_t threads : {1, 4, 8, 16}) {
    record.rows.push_back(misaligned_row(threads, {120000, 121000, 122000, 119000, 118000, 120000}));
    record.rows.push_back(record.rows.back());
    record.rows.back().control = true;
  }
  check_width(terminal(finished(record)));
}

TEST_CASE("terminal: histograms by power of two") {
  RunRecord record = example_record();
  record.rows = {mmap_random_row("mmap-random", 1, {10})};
  FaultClass& read = *record.rows[0].faults->read;
  read = {};
  read.count = 7;
  read.lat_ns.add(0);
  read.lat_ns.add(1);
  read.lat_ns.add(5, 4);
  read.lat_ns.add(16);
  std::string text = terminal(finished(record), {.histograms = true});
  check_width(text);
  CHECK(text.find("mmap-random T01: latency of faults of kind read (n 7)\n"
                  "                   nsecs : count      distribution\n"
                  "         0 -> 1          : 2          |********************                    |\n"
                  "         2 -> 3          : 0          |                                        |\n"
                  "         4 -> 7          : 4          |****************************************|\n"
                  "         8 -> 15         : 0          |                                        |\n"
                  "        16 -> 31         : 1          |**********                              |\n") !=
        std::string::npos);
}

TEST_CASE("terminal: pages, time, waits for the lock and calls stand where they were counted") {
  RunRecord record = example_record();
  record.rows = {waste_row(1, {120, 121, 122, 119, 118, 120}), hinted_row(4, {650, 655, 640, 645, 651, 652})};
  record.rows[0].time =
      TimeSplit{.running_s = 0.25, .fault_wait_s = 0.75, .read_wait_s = 0, .lock_wait_s = std::nullopt};
  record.rows[0].unavailable["time.lock_wait_s"] = "probe mmap_lock is not attached";
  record.rows[1].page_cache =
      PageCache{.added_pages = 52000,
                .by = {.fault = 0, .readahead = 0, .hint = 52000, .read = 0, .other = 0},
                .used_pages = 51480,
                .wasted_pages = 520,
                .evicted_pages = 0,
                .refault_pages = 130};
  record.rows[1].time = TimeSplit{.running_s = 1, .fault_wait_s = 2, .read_wait_s = 0.5, .lock_wait_s = 0.5};
  record.rows[1].mmap_lock.emplace();
  record.rows[1].mmap_lock->read = lock_side(1000, 10, 50'000'000);
  record.rows[1].mmap_lock->write = lock_side(7, 0, 0);
  // Where every call failed, the entry for success has no calls, only their latency.
  record.rows[0].syscalls = {{.name = "madvise", .calls = 0, .lat_ns = latencies(1920, 200)},
                             {.name = "madvise", .error = "EINVAL", .calls = 1920}};
  std::string text = terminal(finished(record));
  check_width(text);
  CHECK(text == expected_text("terminal_waits.txt", text));
}

TEST_CASE("terminal: five findings are shown, the rest counted") {
  RunRecord record = example_record();
  for (int i = 0; i < 7; ++i)
    record.findings.push_back({.id = "x", .severity = "info", .text = "Text.", .remedy = "Remedy."});
  std::string text = terminal(record);
  CHECK(text.find("INFO  Text. Remedy. [x]\n2 more: iotrace report RECORD --format json ") !=
        std::string::npos);
  record.findings.resize(5);
  CHECK(terminal(record).find(" more:") == std::string::npos);
  record.findings.clear();
  CHECK(terminal(record).ends_with("\nNo findings.\n"));
}
