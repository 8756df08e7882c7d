// The page ledger: which pages were used before they left, and which were brought in for nothing.

#include "tests/in-place/probes_fixture.h"
#include "userspace/probes/page_ledger.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 8192;

void advise_random(const InTarget& here) {
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
}
void fadvise_random(const InTarget& here) {
  ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
}

// Reads pages [first, first + pages) without a mark.
void read_pages(const InTarget& here, std::size_t first, std::size_t pages) {
  static char buffer[64 * 4096];
  (void)!::pread(here.fd, buffer, pages * page_size(), static_cast<off_t>(first * page_size()));
}
void evict(const InTarget& here) {
  ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED);
}

PageCache pages_of(ProbeSet& probes, TargetProcess& target, ColdFile& file) {
  file.make_cold();
  PageCache cache = *observe(probes, target).page_cache;
  CHECK(*cache.used_pages + *cache.wasted_pages == *cache.added_pages);
  const PageCacheBy& by = cache.wasted_by;
  CHECK(*by.fault + *by.readahead + *by.hint + *by.read + *by.other == *cache.wasted_pages);
  return cache;
}

// What 13 pages read and evicted twice are, where the target marks the reads that it is told to.
PageCache after_two_lives(ProbeSet& probes, ColdFile& file, TargetProcess::Work work) {
  TargetProcess target(file, probes, std::move(work), fadvise_random);
  return pages_of(probes, target, file);
}

}

TEST_CASE("1009 distinct pages touched cold under MADV_RANDOM are used, none is wasted") {
  constexpr std::size_t kTouched = 1009;
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"}, GENERATE(0, 1) ? without_best_variants() : HookStates());
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        for (std::size_t i = 0; i < kTouched; ++i) here.touch(4 * i);
      },
      advise_random);
  PageCache cache = pages_of(*probes, target, file);
  CHECK(*cache.added_pages == kTouched);
  CHECK(*cache.used_pages == kTouched);
  CHECK(*cache.wasted_pages == 0);
  CHECK(*cache.refault_pages == 0);
}

TEST_CASE("one touch under MADV_NORMAL wastes all of the window but one page") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) { here.touch(kPages / 2); });
  PageCache cache = pages_of(*probes, target, file);
  CHECK(*cache.used_pages == 1);
  CHECK(*cache.wasted_pages > 0);
  CHECK(*cache.wasted_by.readahead == *cache.by.readahead);
  CHECK(*cache.wasted_by.fault == 0);
}

TEST_CASE("a pread of 5 pages after FADV_RANDOM adds 5 and uses 5") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        read_pages(here, 100, 5);
        here.mark(100, 5);
      },
      fadvise_random);
  PageCache cache = pages_of(*probes, target, file);
  CHECK(*cache.by.read == 5);
  CHECK(*cache.used_pages == 5);
  CHECK(*cache.wasted_pages == 0);
}

TEST_CASE("a hint on 8 pages of which 3 are touched brings 5 for nothing") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        auto* map = const_cast<std::byte*>(here.file);
        ::madvise(map + 16 * page_size(), 8 * page_size(), MADV_WILLNEED);
        for (std::size_t page : {16, 17, 22}) here.touch(page);
        for (int i = 1; i <= 7; ++i) ::madvise(map + i, page_size(), MADV_WILLNEED);
        ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);  // advice, but no hint
        ::readahead(-1, 0, page_size());
      },
      advise_random);
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  CHECK(*readings.page_cache->by.hint == 8);
  CHECK(*readings.page_cache->used_pages == 3);
  CHECK(*readings.page_cache->wasted_by.hint == 5);
  CHECK(*readings.hints->useless_pages == 5);
  CHECK(*readings.hints->issued == 1 + 7 + 1);
  CHECK(*readings.hints->rejected == 7 + 1);
  CHECK(*readings.hints->needless_pages == 0);
  CHECK(*readings.hints->truncated_pages == 0);
  CHECK(*readings.hints->in_time_pages + *readings.hints->late_pages == 3);
}

TEST_CASE("each way of hinting is issued, and its refusal rejected") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    for (int i = 0; i < 5; ++i)
      ::posix_fadvise(here.fd, 0, static_cast<off_t>(page_size()), POSIX_FADV_WILLNEED);
    for (int i = 0; i < 3; ++i) ::posix_fadvise(-1, 0, 0, POSIX_FADV_WILLNEED);
    for (int i = 0; i < 2; ++i) ::readahead(here.fd, 0, page_size());
  });
  ProbeReadings readings = observe(*probes, target);
  CHECK(*readings.hints->issued == 10);
  CHECK(*readings.hints->rejected == 3);
  CHECK_FALSE(readings.hints->useless_pages);
  CHECK(readings.unavailable.contains("hints.useless_pages"));
}

TEST_CASE("pages read again after DONTNEED are refaults, and each of their lives counts") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  CHECK(exact_once_in_5([&] {
    PageCache cache = after_two_lives(*probes, file, [](const InTarget& here) {
      read_pages(here, 7, 13);
      here.mark(7, 13);
      evict(here);
      read_pages(here, 7, 13);
      evict(here);
    });
    return *cache.added_pages == 26 && *cache.evicted_pages == 26 && *cache.refault_pages == 13 &&
           *cache.used_pages == 13 && *cache.wasted_by.read == 13;
  }));
}

TEST_CASE("a mark that comes after its page has left belongs to the life that ended") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  SECTION("and the page comes again") {
    CHECK(exact_once_in_5([&] {
      PageCache cache = after_two_lives(*probes, file, [](const InTarget& here) {
        read_pages(here, 7, 13);
        evict(here);
        here.mark(7, 13);
        read_pages(here, 7, 13);
      });
      return *cache.added_pages == 26 && *cache.used_pages == 13 && *cache.wasted_pages == 13;
    }));
  }
  SECTION("and the page stays away") {
    CHECK(exact_once_in_5([&] {
      PageCache cache = after_two_lives(*probes, file, [](const InTarget& here) {
        read_pages(here, 7, 13);
        evict(here);
        here.mark(7, 12);
      });
      return *cache.added_pages == 13 && *cache.used_pages == 12 && *cache.wasted_pages == 1;
    }));
  }
}

TEST_CASE("only lives that began in the window count") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        here.mark(0, 11);
        evict(here);
        read_pages(here, 0, 3);
      },
      [](const InTarget& here) {
        fadvise_random(here);
        read_pages(here, 0, 11);
      });
  CHECK(exact_once_in_5([&] {
    PageCache cache = *observe(*probes, target).page_cache;
    return *cache.added_pages == 3 && *cache.used_pages == 0 && *cache.wasted_pages == 3 &&
           *cache.refault_pages == 3;
  }));
}

TEST_CASE("what another process alone reads the worker has not used") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) { here.await_signal(1); });
  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  UniqueFd mine = file.open();
  ::posix_fadvise(mine.get(), 0, 0, POSIX_FADV_RANDOM);
  std::vector<char> buffer(7 * page_size());
  REQUIRE(::pread(mine.get(), buffer.data(), buffer.size(), 0) == static_cast<ssize_t>(buffer.size()));
  target.signal(1);
  target.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  CHECK(*readings->page_cache->by.other == 7);
  CHECK(*readings->page_cache->used_pages == 0);
  CHECK(*readings->page_cache->wasted_by.other == 7);
}

TEST_CASE("pages of large folios are used and wasted one by one") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    for (int life = 0; life < 2; ++life) {
      ::lseek(here.fd, 0, SEEK_SET);
      static char megabyte[1 << 20];  // large reads make large folios where the file system has them
      while (::read(here.fd, megabyte, sizeof(megabyte)) > 0) {
      }
      // Half of the pages in their first life, a quarter of them in their second, which goes on.
      for (std::size_t page = 0; page < kPages; page += 2 + 2 * life) here.mark(page);
      if (life == 0) evict(here);
    }
  });
  CHECK(exact_once_in_5([&] {
    PageCache cache = pages_of(*probes, target, file);
    return *cache.added_pages == 2 * kPages && *cache.evicted_pages == kPages &&
           *cache.refault_pages == kPages && *cache.used_pages == kPages / 2 + kPages / 4;
  }));
}

TEST_CASE("a file cached in large folios is added, used and wasted to the page") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    static char megabyte[1 << 20];
    ::lseek(here.fd, 0, SEEK_SET);
    while (::read(here.fd, megabyte, sizeof(megabyte)) > 0) {
    }
    for (std::size_t page = 0; page < kPages; page += 3) here.mark(page);
    evict(here);
    read_pages(here, 5000, 29);
    here.mark(5001, 23);
  });
  constexpr Count kUsed = (kPages + 2) / 3;
  std::map<std::uint32_t, Count> folios;
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    REQUIRE(probes->attach(target.target()));
    REQUIRE(probes->start_folio_census());
    target.run();
    folios = *probes->stop_folio_census();
    auto readings = probes->read();
    probes->detach();
    REQUIRE(readings);
    const PageCache& cache = *readings->page_cache;
    Count pages = 0;
    for (auto [order, count] : folios) pages += count << order;
    return pages == *cache.added_pages && *cache.evicted_pages == kPages &&
           *cache.refault_pages == *cache.added_pages - kPages && *cache.used_pages == kUsed + 23 &&
           *cache.used_pages + *cache.wasted_pages == *cache.added_pages &&
           cache.evicted_age_ns->count() == kPages;
  }));
  const bool large = !folios.empty() && folios.rbegin()->first > 0;
  if (!large && !file.is_on_xfs()) skip("this file system makes no large folios");
  CHECK(large);
}

TEST_CASE("lives and marks of one window are forgotten in the next") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  SharedCount marks;
  TargetProcess target(
      file, *probes,
      [&](const InTarget& here) {
        read_pages(here, 100, 29);
        if (marks->load()) here.mark(100, 29);
      },
      fadvise_random);
  marks->store(1);
  CHECK(*pages_of(*probes, target, file).used_pages == 29);
  marks->store(0);
  PageCache unmarked = pages_of(*probes, target, file);
  CHECK(*unmarked.added_pages == 29);
  CHECK(*unmarked.wasted_pages == 29);
  CHECK(*unmarked.refault_pages == 0);

  REQUIRE(probes->attach(target.target()));
  auto nothing = probes->read();
  probes->detach();
  REQUIRE(nothing);
  CHECK(*nothing->page_cache->used_pages == 0);
  CHECK(*nothing->page_cache->wasted_pages == 0);
}

TEST_CASE("the ledger of a file is as large as the file, up to a limit that it names") {
  CHECK(ledger_size(0, 4096).chunks == 1);
  CHECK(ledger_size(4096 * 4096, 4096).chunks == 1);
  CHECK(ledger_size(4096 * 4096 + 1, 4096).chunks == 2);
  CHECK(ledger_size(64ull << 30, 4096).chunks == 4096);
  CHECK(ledger_size(64ull << 30, 4096).note == "");
  LedgerSize narrowed = ledger_size(1ull << 40, 4096);
  CHECK(narrowed.chunks == 4096);
  CHECK(narrowed.note == "the page ledger covers the first 16777216 of 268435456 pages: used, wasted and "
                         "refault_pages are of that part");
}

TEST_CASE("a file larger than the ledger is judged in its first part, and the probe says so") {
  constexpr std::size_t kCovered = 1 << 24;
  ColdFile file = ColdFile::sparse(kCovered + 64);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        read_pages(here, kCovered - 3, 3);
        here.mark(kCovered - 3, 2);
        read_pages(here, kCovered, 5);
      },
      fadvise_random);
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  CHECK(*readings.page_cache->added_pages == 8);
  CHECK(*readings.page_cache->used_pages == 2);
  CHECK(*readings.page_cache->wasted_pages == 1);
  CHECK(readings.probes.front().reason.value_or("").find("first 16777216 of 16777280 pages") !=
        std::string::npos);
}
