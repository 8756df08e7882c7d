// Who brings pages of the file into the cache, and what leaves it.

#include <sys/uio.h>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 8192;

PageCache pages_of(ProbeSet& probes, TargetProcess& target, ColdFile& file) {
  file.make_cold();
  return *observe(probes, target).page_cache;
}

Count sum(const PageCacheBy& by) {
  return *by.fault + *by.readahead + *by.hint + *by.read + *by.other;
}

}

TEST_CASE("one touch under MADV_NORMAL is one page of the fault, the rest of the window readahead") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) { here.touch(kPages / 2); });
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  const PageCache& cache = *readings.page_cache;
  CHECK(readings.faults->read->count == 1);
  CHECK(*cache.by.fault == 1);
  CHECK(*cache.added_pages == 1 + *cache.by.readahead);
  CHECK(*cache.by.readahead > 0);
}

TEST_CASE("a hint on 8 pages brings 8, by each of the calls that hint") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess madvise_target(file, probes->gate_fd(), [](const InTarget& here) {
    ::madvise(const_cast<std::byte*>(here.file) + 16 * page_size(), 8 * page_size(), MADV_WILLNEED);
  });
  TargetProcess fadvise_target(file, probes->gate_fd(), [](const InTarget& here) {
    auto page = static_cast<off_t>(page_size());
    ::posix_fadvise(here.fd, 16 * page, 8 * page, POSIX_FADV_WILLNEED);
  });
  TargetProcess readahead_target(file, probes->gate_fd(), [](const InTarget& here) {
    ::readahead(here.fd, static_cast<off64_t>(16 * page_size()), 8 * page_size());
  });
  for (TargetProcess* target : {&madvise_target, &fadvise_target, &readahead_target}) {
    PageCache cache = pages_of(*probes, *target, file);
    CHECK(*cache.by.hint == 8);
    CHECK(*cache.added_pages == 8);
  }
}

TEST_CASE("a read of 5 pages after FADV_RANDOM brings 5, by each of the calls that read") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"}, GENERATE(0, 1) ? without_best_variants() : HookStates());
  auto random = [](const InTarget& here) { ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM); };
  static char buffer[16 * 4096];
  auto page = static_cast<off_t>(page_size());
  REQUIRE(5 * page_size() <= sizeof(buffer));

  TargetProcess pread_target(
      file, probes->gate_fd(),
      [=](const InTarget& here) { (void)!::pread(here.fd, buffer, 5 * page_size(), 100 * page); }, random);
  TargetProcess read_target(
      file, probes->gate_fd(),
      [=](const InTarget& here) {
        ::lseek(here.fd, 100 * page, SEEK_SET);
        (void)!::read(here.fd, buffer, 5 * page_size());
      },
      random);
  TargetProcess preadv_target(
      file, probes->gate_fd(),
      [=](const InTarget& here) {
        iovec vectors[] = {{buffer, page_size()}, {buffer + page_size(), 4 * page_size()}};
        (void)!::preadv(here.fd, vectors, 2, 100 * page);
      },
      random);
  TargetProcess preadv2_target(
      file, probes->gate_fd(),
      [=](const InTarget& here) {
        ::lseek(here.fd, 100 * page, SEEK_SET);
        iovec vector{buffer, 5 * page_size()};
        (void)!::preadv2(here.fd, &vector, 1, -1, 0);
      },
      random);
  for (TargetProcess* target : {&pread_target, &read_target, &preadv_target, &preadv2_target}) {
    PageCache cache = pages_of(*probes, *target, file);
    CHECK(*cache.by.read == 5);
    CHECK(*cache.added_pages == 5);
  }
}

TEST_CASE("what a sequential read did not ask for is readahead") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    static char buffer[4096];
    (void)!::pread(here.fd, buffer, page_size(), 0);
  });
  PageCache cache = pages_of(*probes, target, file);
  CHECK(*cache.by.read == 1);
  CHECK(*cache.by.readahead > 0);
  CHECK(*cache.added_pages == sum(cache.by));
}

TEST_CASE("pages added are the pages that then are in the cache") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    here.touch(kPages / 2);
    ::madvise(const_cast<std::byte*>(here.file), here.bytes,
              MADV_DONTNEED);  // lets the file be made cold again
  });
  CHECK(exact_once_in_5([&] {
    PageCache cache = pages_of(*probes, target, file);
    return file.settled_pages(*cache.added_pages) == *cache.added_pages;
  }));
}

TEST_CASE("pages that another process reads are of somebody else") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) { here.await_signal(1); });
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
  CHECK(*readings->page_cache->added_pages == 7);
  CHECK(calls(*readings, "pread64") == 0);
}

TEST_CASE("another file's pages do not count") {
  ColdFile file(64), unrelated(64);
  auto probes = load_probes(file, {"page_cache"});
  UniqueFd other = unrelated.open();
  TargetProcess target(file, probes->gate_fd(), [&](const InTarget&) {
    static char buffer[4096];
    (void)!::pread(other.get(), buffer, sizeof(buffer), 0);
  });
  unrelated.make_cold();
  PageCache cache = pages_of(*probes, target, file);
  CHECK(*cache.added_pages == 0);
}

TEST_CASE("DONTNEED evicts exactly what was there") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, probes->gate_fd(),
                       [](const InTarget& here) { ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED); });
  std::vector<char> buffer(1013 * page_size());
  UniqueFd reader = file.open();
  ::posix_fadvise(reader.get(), 0, 0, POSIX_FADV_RANDOM);
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    REQUIRE(::pread(reader.get(), buffer.data(), buffer.size(), 0) == static_cast<ssize_t>(buffer.size()));
    bool all_there = file.resident_pages() == 1013;
    PageCache cache = *observe(*probes, target).page_cache;
    return all_there && file.resident_pages() == 0 && *cache.evicted_pages == 1013 && *cache.added_pages == 0;
  }));
}

TEST_CASE("pages are counted, not folios, on their way in and out") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess reader(file, probes->gate_fd(), [](const InTarget& here) {
    ::lseek(here.fd, 0, SEEK_SET);
    static char megabyte[1 << 20];  // large reads make large folios where the file system has them
    while (::read(here.fd, megabyte, sizeof(megabyte)) > 0) {
    }
  });
  TargetProcess dropper(file, probes->gate_fd(),
                        [](const InTarget& here) { ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED); });
  CHECK(exact_once_in_5([&] {
    PageCache in = pages_of(*probes, reader, file);
    bool all_in = file.settled_pages(kPages) == kPages && *in.added_pages == kPages &&
                  *in.by.read + *in.by.readahead == kPages && *in.by.readahead > 0;
    PageCache out = *observe(*probes, dropper).page_cache;
    return all_in && file.resident_pages() == 0 && *out.evicted_pages == kPages;
  }));
}

TEST_CASE("the census counts each folio that enters the cache, whatever its size") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults"});
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    REQUIRE(probes->start_folio_census());
    file.fill_page_by_page();
    auto single = probes->stop_folio_census();
    return single == std::map<std::uint32_t, Count>{{0, kPages}};
  }));
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    REQUIRE(probes->start_folio_census());
    std::vector<char> megabyte(1 << 20);
    UniqueFd reader = file.open();
    while (::read(reader.get(), megabyte.data(), megabyte.size()) > 0) {
    }
    auto large = probes->stop_folio_census();
    REQUIRE(large);
    Count pages = 0;
    for (auto [order, folios] : *large) pages += folios << order;
    return pages == kPages;
  }));
}
