// What attach records make the rules say, and what does not. The sentences are exact: they are the product.

#include <catch2/catch.hpp>

#include "tests/golden/attach_example.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string sentence(const RunRecord& record, std::string_view id) {
  const auto findings = fired(record, id);
  REQUIRE(findings.size() == 1);
  return findings[0].severity + ": " + findings[0].text + ' ' + findings[0].remedy;
}

bool silent(const RunRecord& record, std::string_view id) {
  return fired(record, id).empty();
}

// The rule's answer once the one file is changed.
bool quiet_after(std::string_view id, AttachedFile file, auto change) {
  change(file);
  return silent(watched({file}), id);
}

AttachedFile short_scans() {
  AttachedFile file = scanned_file("/data/vectors.dat");
  file.order = AccessOrder{4'700, 300};
  return file;
}

}

TEST_CASE("attach: nothing is found where nothing happened") {
  CHECK(judge(idle_record()).empty());
}

TEST_CASE("attach: wrong-advice: MADV_RANDOM on a scan") {
  CHECK(sentence(watched({scanned_file()}), "wrong-advice") ==
        "warn: /data/merge/_9.dvd is read in order under MADV_RANDOM, which turns readahead off: of 5000 "
        "accesses "
        "seen, 99 % followed the thread's last one. Advise the mapping MADV_SEQUENTIAL or MADV_NORMAL while "
        "it is "
        "scanned.");
  auto quiet = [](auto change) { return quiet_after("wrong-advice", scanned_file(), change); };
  CHECK_FALSE(quiet([](AttachedFile&) {}));
  CHECK(quiet([](AttachedFile& file) { file.advice = {{"NORMAL", 1}}; }));
  CHECK(quiet([](AttachedFile& file) { file.order = AccessOrder{4'700, 300}; }));
  CHECK(quiet([](AttachedFile& file) { file.order = AccessOrder{98, 1}; }));
  CHECK(quiet([](AttachedFile& file) { file.order = std::nullopt; }));
}

TEST_CASE("attach: wrong-advice: MADV_NORMAL under random reads") {
  CHECK(sentence(watched({random_file("/i/_0.fdt")}), "wrong-advice") ==
        "warn: /i/_0.fdt is read at random under MADV_NORMAL: of 5000 accesses seen, 90 % went elsewhere "
        "than the "
        "thread's last one, each page read by a fault took 60.0 more along, and at least 91.8 % of all were "
        "never "
        "used. Advise the mapping MADV_RANDOM, and hint the ranges that are wanted next (MADV_WILLNEED).");
  auto quiet = [](auto change) { return quiet_after("wrong-advice", random_file(), change); };
  CHECK(quiet([](AttachedFile& file) { file.advice = {{"RANDOM", 1}}; }));
  CHECK(quiet([](AttachedFile& file) { file.advice.clear(); }));
  CHECK(quiet([](AttachedFile& file) { file.order = AccessOrder{2'500, 2'500}; }));
  CHECK(quiet([](AttachedFile& file) { file.page_cache->by.readahead = 60'000; }));
  CHECK(quiet([](AttachedFile& file) { file.wasted_least_pages = 100'000; }));
}

TEST_CASE("attach: wrong-advice: files of one extension share a sentence") {
  const auto found = fired(
      watched({random_file("/i/_0.fdt"), scanned_file(), random_file("/i/_1.fdt"), random_file("/i/_2.fdt")}),
      "wrong-advice");
  REQUIRE(found.size() == 2);
  CHECK(found[1].rows == std::vector<std::uint32_t>{0, 2, 3});
  CHECK(found[1].text.starts_with("/i/_0.fdt, /i/_1.fdt and 1 more is read at random"));
}

TEST_CASE("attach: wrong-advice: cannot tell from few accesses, or of a file in memory") {
  RunRecord record = watched({scanned_file()});
  record.files[0].order = AccessOrder{989, 10};
  CHECK(sentence(record, "wrong-advice") ==
        "info: cannot tell whether MADV_RANDOM is wrong for /data/merge/_9.dvd: accesses to mapped pages are "
        "invisible, and 999 accesses were seen. Watch for longer, or while less of it is in the cache.");
  record = watched({random_file("/i/_0.fdt")});
  record.files[0].resident_bytes = *record.files[0].size_bytes / 4 * 3;
  CHECK(sentence(record, "wrong-advice") ==
        "info: cannot tell whether MADV_NORMAL is wrong for /i/_0.fdt: accesses to mapped pages are "
        "invisible, and "
        "75 % of it is resident. Watch for longer, or while less of it is in the cache.");
  record.files[0].resident_bytes = std::nullopt;
  CHECK(sentence(record, "wrong-advice").find("how much of it is resident is not known") !=
        std::string::npos);
}

TEST_CASE("attach: readahead-waste: fires on what is certain") {
  CHECK(sentence(watched({random_file("/i/_0.fdt")}), "readahead-waste") ==
        "fail: readahead is wasted in /i/_0.fdt: of 240000 pages that it brought in, between 93.3 % and 98.3 "
        "% were "
        "never used; the device delivered 953 MiB. Advise the mapping MADV_RANDOM, or lower read_ahead_kb of "
        "254:1.");
  auto quiet = [](auto change) { return quiet_after("readahead-waste", random_file(), change); };
  CHECK(quiet([](AttachedFile& file) { file.wasted_least_pages = file.wasted_most_pages = 10'000; }));
  CHECK(quiet([](AttachedFile& file) { file.page_cache->by.readahead = 999; }));
  CHECK(quiet([](AttachedFile& file) { file.wasted_least_pages = std::nullopt; }));
  CHECK(quiet([](AttachedFile& file) { file.page_cache->by.hint = std::nullopt; }));
}

TEST_CASE("attach: readahead-waste: cannot tell where only the most is high") {
  RunRecord record = watched({random_file("/i/_0.fdt")});
  record.files[0].wasted_least_pages = 24'000;
  CHECK(sentence(record, "readahead-waste") == "info: cannot tell whether readahead is wasted in /i/_0.fdt: "
                                               "between 10 % and 98.3 % of 240000 pages were "
                                               "never used, because pages that the kernel mapped beside a "
                                               "faulting one are used unseen. Watch for longer, "
                                               "or compare with a run under MADV_RANDOM.");
  // Pages that hints may have brought for nothing are not held against readahead.
  record = watched({random_file("/i/_0.fdt")});
  record.files[0].page_cache->by.hint = 200'000;
  CHECK(fired(record, "readahead-waste").at(0).severity == "info");
}

TEST_CASE("attach: major-faults-serial: reads of several pages under MADV_RANDOM") {
  CHECK(sentence(watched({short_scans()}), "major-faults-serial") ==
        "warn: /data/vectors.dat is waited for one page after the other: 5000 faults that read one page each "
        "under "
        "MADV_RANDOM, 16.7 in a row, 1.00 ms each on average; half of the device's reads are of at most 4 "
        "KiB. Hint "
        "the whole range before touching it (MADV_WILLNEED, MADV_POPULATE_READ), or read it by pread.");
  auto quiet = [](auto change) { return quiet_after("major-faults-serial", short_scans(), change); };
  CHECK(quiet([](AttachedFile& file) { file.order = AccessOrder{2'400, 2'600}; }));
  CHECK(quiet([](AttachedFile& file) { file.order = AccessOrder{4'950, 50}; }));  // wrong-advice speaks of it
  CHECK(quiet([](AttachedFile& file) { file.advice = {{"NORMAL", 1}}; }));
  CHECK(quiet([](AttachedFile& file) { file.hints->issued = 1; }));
  CHECK(quiet([](AttachedFile& file) { file.page_cache->by.readahead = 5'000; }));
  CHECK(quiet([](AttachedFile& file) { file.faults = file_faults(0, 0, 999); }));
}

TEST_CASE("attach: thrashing: pages that left and came back") {
  const auto found = fired(watched({random_file("/i/_0.fdt"), scanned_file()}), "thrashing");
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "the working set does not fit into memory: of 244000 pages of /i/_0.fdt that came "
                         "into the cache, 50 % had "
                         "left it while it was watched (12200 per second).");
  CHECK(found[0].rows == std::vector<std::uint32_t>{0});
  CHECK(quiet_after("thrashing", random_file(),
                    [](AttachedFile& file) { file.page_cache->refault_pages = 48'000; }));
  CHECK(quiet_after("thrashing", random_file(),
                    [](AttachedFile& file) { file.page_cache->refault_pages = std::nullopt; }));
}

TEST_CASE("attach: hint-rejected: errno of all calls, and on which files") {
  const RunRecord record = lucene_record();
  CHECK(fired(record, "hint-rejected").at(0).rows == std::vector<std::uint32_t>{1});
  CHECK(sentence(record, "hint-rejected") ==
        "fail: at least half of the prefetch does nothing in java (4711): 5117/5181 madvise(WILLNEED) = "
        "EINVAL, "
        "address not a multiple of 4096; on …/nodes/0/indices/books/0/index/_0.dvd. Round the start down to "
        "the "
        "page.");
  RunRecord accepted = record;
  accepted.totals->madvise = {{"WILLNEED", {}, 64, 0, 64 * 16384}};
  CHECK(silent(accepted, "hint-rejected"));
}

TEST_CASE("attach: hint-truncated: what the kernel passed over, and on which file") {
  RunRecord record = lucene_record();
  record.totals->madvise = {{"WILLNEED", {}, 10, 0, 10 * (64ull << 20)}};
  record.totals->hints = Hints{.issued = 10, .rejected = 0, .truncated_pages = 143'360};
  record.files[1].hints->truncated_pages = 143'360;
  CHECK(fired(record, "hint-truncated").at(0).rows == std::vector<std::uint32_t>{1});
  CHECK(sentence(record, "hint-truncated") ==
        "fail: hints are cut short in java (4711): one madvise(WILLNEED) over 64 MiB loads 8 MiB, and 87.5 % "
        "of what 10 calls asked for is passed over without an error (10.0 s, 5 threads that waited); on "
        "…/nodes/0/indices/books/0/index/_0.dvd. Split it: hint 8 MiB at a time.");
  record.totals->hints->truncated_pages = 8'000;  // 4.9 % of what was asked for
  CHECK(silent(record, "hint-truncated"));
  record.totals->hints->truncated_pages = std::nullopt;
  CHECK(silent(record, "hint-truncated"));
}

TEST_CASE("attach: prefetch-late: hinted pages still in flight, and of which file") {
  RunRecord record = lucene_record();
  record.totals->hints = Hints{.issued = 500, .rejected = 0, .in_time_pages = 2'000, .late_pages = 6'000};
  record.totals->faults = file_faults(9'400, 20'000, 4'030);
  record.files[1].hints->late_pages = 6'000;
  CHECK(fired(record, "prefetch-late").at(0).rows == std::vector<std::uint32_t>{1});
  CHECK(sentence(record, "prefetch-late") ==
        "warn: hints come late in java (4711): of 8000 hinted pages that were read, 75 %, 1.16 a hint, were "
        "still in flight when they were touched (10.0 s, 5 threads that waited); faults on pages in flight "
        "waited 500 us (p50), 500 us (p99), 20 % of its threads' time; on "
        "…/nodes/0/indices/books/0/index/_0.dvd. Hint earlier: more work or a larger batch between hint and "
        "read.");
  record.totals->hints->late_pages = 90;
  CHECK(silent(record, "prefetch-late"));
  record.totals->hints->late_pages = std::nullopt;
  CHECK(silent(record, "prefetch-late"));
}

TEST_CASE("attach: no-hint-issued: only where hints are expected, and faults wait") {
  RunRecord record = watched({random_file("/i/_0.fdt")});
  CHECK(silent(record, "no-hint-issued"));
  record.target->expect_hints = true;
  CHECK(sentence(record, "no-hint-issued") == "fail: java (4711) never hints: no madvise(WILLNEED), fadvise, "
                                              "readahead or process_madvise call in 10.0 s, in "
                                              "which 5000 faults on /i/_0.fdt waited. Check that the code "
                                              "that hints is reached and allowed to call the "
                                              "system.");
  record.totals->madvise = {{"WILLNEED", "EINVAL", 1}};
  CHECK(silent(record, "no-hint-issued"));
  record.totals->madvise = std::nullopt;
  CHECK(silent(record, "no-hint-issued"));
  record = idle_record();
  record.target->expect_hints = true;
  CHECK(silent(record, "no-hint-issued"));
}

TEST_CASE("attach: writer-convoy is a share of the time of threads that wait, however many sleep") {
  RunRecord record = lucene_record();
  CHECK(
      sentence(record, "writer-convoy")
          .starts_with("warn: java (4711) stands in line behind writers of mmap_lock, 12.0 % of its threads' "
                       "time (10.0 s, 5 threads that waited): 1430 of 14500 acquisitions as reader waited"));
  CHECK(silent(record, "mmap-lock-wait"));  // said already
  for (std::uint32_t i = 0; i < 100; ++i) record.threads.push_back(thread_of(6'000 + i, "pool", 0, 0, 0, 10));
  CHECK_FALSE(silent(record, "writer-convoy"));
  record.totals->mmap_lock->read = lock_side(14'500, 100, 4'194'304);
  CHECK(silent(record, "writer-convoy"));
}

TEST_CASE("attach: what a probe lost or could not see is told of all targets") {
  RunRecord record = lucene_record();
  CHECK(silent(record, "events-lost"));
  CHECK(silent(record, "probe-unavailable"));
  record.totals->probes[2].lost = 7;
  record.totals->probes[1] = {.name = "mmap_lock", .reason = "attach tp_btf: EPERM"};
  CHECK(sentence(record, "events-lost") ==
        "fail: probe page_cache lost 7 events (java (4711), 10.0 s, 5 threads that waited): its numbers "
        "there are "
        "lower bounds. Watch fewer processes at once: what is counted by file and by thread has a bound.");
  CHECK(fired(record, "events-lost").at(0).rows.empty());
  CHECK(sentence(record, "probe-unavailable").starts_with("warn: probe mmap_lock did not attach"));
}

TEST_CASE("attach: a probe that it spares the process has a remedy of its own") {
  auto sentence_for = [](const std::string& reason) {
    RunRecord record = lucene_record();
    record.totals->probes[1] = {.name = "mmap_lock", .reason = reason};
    return sentence(record, "probe-unavailable");
  };
  const std::string limit =
      sentence_for("its programs took 5.6 % of a processor, more than --max-overhead 5.0 %");
  CHECK(limit.starts_with("warn: probe mmap_lock had to be switched off, so that"));
  CHECK(limit.ends_with("Allow it more by --max-overhead, or watch with fewer --probes."));
  const std::string dear =
      sentence_for("mmap_lock: left out, as each of its events costs the path of a cgroup");
  CHECK(dear.starts_with("info: probe mmap_lock had been left out, so that"));
  CHECK(dear.ends_with("Name it in --probes where its cost can be borne."));
}
