// How old pages are when they leave the cache.

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 1024;
constexpr std::uint64_t kKept_us = 50'000;
constexpr std::uint64_t kLongestTick_ns = 10'000'000;  // 100 a second

void fadvise_random(const InTarget& here) {
  ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
}
void read_pages(const InTarget& here, std::size_t pages) {
  std::vector<char> buffer(pages * page_size());
  (void)!::pread(here.fd, buffer.data(), buffer.size(), 0);
}
void evict(const InTarget& here) {
  ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED);
}

Histogram ages_of(ProbeSet& probes, TargetProcess& target) {
  return *observe(probes, target).page_cache->evicted_age_ns;
}

}

TEST_CASE("17 pages kept for 50 ms leave at that age or later, to a tick") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        read_pages(here, 17);
        ::usleep(kKept_us);
        evict(here);
        read_pages(here, 5);  // stay
      },
      fadvise_random);
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    Histogram ages = ages_of(*probes, target);
    return ages.count() == 17 && *ages.min() + kLongestTick_ns >= kKept_us * 1000;
  }));
}

TEST_CASE("pages that leave at once are younger than those that stay, each life by itself") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        for (int life = 0; life < 2; ++life) {
          read_pages(here, 11);
          if (life == 1) ::usleep(kKept_us);
          evict(here);
        }
      },
      fadvise_random);
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    Histogram ages = ages_of(*probes, target);
    return ages.count() == 22 && *ages.max() + kLongestTick_ns >= kKept_us * 1000 &&
           *ages.min() < *ages.max();
  }));
}

TEST_CASE("pages that were there before the window have no age") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  TargetProcess target(file, *probes, evict);
  CHECK(exact_once_in_5([&] {
    file.fill_page_by_page();
    PageCache cache = *observe(*probes, target).page_cache;
    return *cache.evicted_pages == kPages && cache.evicted_age_ns->count() == 0;
  }));
}
