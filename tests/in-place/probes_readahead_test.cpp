// Windows that the kernel reads ahead, and what is none.

#include <bit>

#include "tests/in-place/probes_fixture.h"
#include "userspace/host/host.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 8192;

std::unique_ptr<ProbeSet> load_readahead(const ColdFile& file,
                                         std::vector<std::string> names = {"readahead"}) {
  auto probes = load_probes(file, std::move(names));
  for (const ProbeStatus& status : probes->status())
    if (status.name == "readahead" && !status.variant) skip(status.reason.value_or("no readahead hook"));
  return probes;
}

std::uint64_t most_pages(const ColdFile& file) {
  auto bytes = file_facts(file.fd(), file.path()).read_ahead_bytes;
  REQUIRE(bytes);
  return *bytes / page_size();
}

// mm/readahead.c, get_init_ra_size and get_next_ra_size
std::uint64_t first_window(std::uint64_t asked, std::uint64_t most) {
  std::uint64_t size = std::bit_ceil(asked);
  return size <= most / 32 ? 4 * size : size <= most / 4 ? 2 * size : most;
}
std::uint64_t next_window(std::uint64_t size, std::uint64_t most) {
  return size < most / 16 ? 4 * size : size <= most / 2 ? 2 * size : most;
}

void read_page(const InTarget& here, std::size_t page) {
  static char buffer[65536];
  (void)!::pread(here.fd, buffer, page_size(), static_cast<off_t>(page * page_size()));
}

Readahead windows_of(ProbeSet& probes, TargetProcess& target, ColdFile& file) {
  file.make_cold();
  return *observe(probes, target).readahead;
}

bool no_window(const Readahead& seen) {
  return seen.sync == 0 && seen.async == 0 && seen.window_pages->count() == 0 && seen.orders->empty() &&
         !seen.mmap_miss_max;
}

}

TEST_CASE("the first read of a file starts a window, and its mark the next") {
  ColdFile file(kPages);
  const std::uint64_t most = most_pages(file);
  auto probes = load_readahead(file);
  const std::uint64_t first = first_window(1, most);
  CHECK(exact_once_in_5([&] {
    // Each time a process, and so a descriptor, that has read nothing yet.
    TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
      read_page(here, 0);
      read_page(here, 1);
    });
    Readahead seen = windows_of(*probes, target, file);
    return seen.sync == 1 && seen.async == 1 && seen.window_pages->count() == 2 &&
           seen.window_pages->min() == first && seen.window_pages->max() == next_window(first, most) &&
           seen.mmap_miss_max == 0 && seen.orders->contains(0);
  }));
}

TEST_CASE("a touch of a mapping reads around once, and is a miss") {
  ColdFile file(kPages);
  const std::uint64_t most = most_pages(file);
  auto probes = load_readahead(file);
  CHECK(exact_once_in_5([&] {
    TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) { here.touch(kPages / 2); });
    Readahead seen = windows_of(*probes, target, file);
    return seen.sync == 1 && seen.async == 0 && seen.window_pages->min() == most &&
           seen.window_pages->max() == most && seen.mmap_miss_max == 1;
  }));
}

TEST_CASE("a file read from its beginning to its end starts one window at a missing page") {
  ColdFile file(kPages);
  const std::uint64_t most = most_pages(file);
  auto probes = load_readahead(file);
  CHECK(exact_once_in_5([&] {
    TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
      for (std::size_t page = 0; page < kPages; ++page) read_page(here, page);
    });
    Readahead seen = windows_of(*probes, target, file);
    return seen.sync == 1 && *seen.async >= kPages / most - 1 && seen.window_pages->max() <= most &&
           seen.window_pages->count() == *seen.sync + *seen.async;
  }));
}

TEST_CASE("neither advice of random access nor a hint makes a window") {
  ColdFile file(kPages);
  auto probes = load_readahead(file, {"readahead", "page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    auto* map = const_cast<std::byte*>(here.file);
    ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
    for (std::size_t i = 0; i < 23; ++i) read_page(here, 7 * i);
    ::madvise(map, here.bytes, MADV_RANDOM);
    for (std::size_t i = 0; i < 23; ++i) here.touch(1024 + 64 * i);
    ::madvise(map + 4096 * page_size(), 1024 * page_size(), MADV_WILLNEED);
    ::posix_fadvise(here.fd, static_cast<off_t>(6000 * page_size()), static_cast<off_t>(16 * page_size()),
                    POSIX_FADV_WILLNEED);
    ::madvise(map, here.bytes, MADV_DONTNEED);
  });
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  CHECK(*readings.page_cache->added_pages > 46);
  CHECK(no_window(*readings.readahead));
  CHECK(readings.unavailable.contains("readahead.mmap_miss_max"));
}

TEST_CASE("windows of another file, and of another process on this one, are not the target's") {
  ColdFile file(kPages), unrelated(kPages);
  auto probes = load_readahead(file);
  UniqueFd other = unrelated.open();
  TargetProcess target(file, probes->gate_fd(), [&](const InTarget& here) {
    static char buffer[4096];
    (void)!::pread(other.get(), buffer, sizeof(buffer), 0);
    here.await_signal(1);
  });
  file.make_cold();
  unrelated.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  UniqueFd mine = file.open();
  char byte;
  REQUIRE(::pread(mine.get(), &byte, 1, 0) == 1);
  target.signal(1);
  target.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  CHECK(no_window(*readings->readahead));
}
