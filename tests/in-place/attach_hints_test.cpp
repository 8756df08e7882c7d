// Attach's hints by file: each way of hinting, what the kernel refused, and nobody else's.

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/in-place/target_process.h"
#include "tests/in-place/watch_fixture.h"
#include "userspace/attach/attached_file.h"
#include "userspace/unique_fd.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;  // 16 MiB, more than the kernel reads for one hint

std::byte* address_of(const InTarget& here, std::size_t page) {
  return const_cast<std::byte*>(here.file) + page * page_size();
}

off_t offset_of(std::size_t page) {
  return static_cast<off_t>(page * page_size());
}

void by_process_madvise(const InTarget& here, std::size_t page) {
  UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  iovec elements[] = {{address_of(here, page), page_size()}, {address_of(here, page + 1), page_size()}};
  ::process_madvise(self.get(), elements, 2, MADV_WILLNEED, 0);
}

// What was counted of the file while the target ran once.
AttachedFile watched(WatchSet& watch, TargetProcess& target, const ColdFile& file) {
  REQUIRE(watch.begin({target.target().tgid}, true));
  target.run();
  watch.stop_counting();
  auto files = watch.files();
  REQUIRE(files);
  const WatchedFile* seen = find(*files, file);
  REQUIRE(seen);
  CHECK(watch.losses().hint_files == 0);
  AttachedFile described = attached_file(*seen, nullptr, page_size());
  watch.end();
  return described;
}

}

TEST_CASE("attach counts 41 hints on a file by four ways, 16 of them refused with their errno") {
  auto watch = load_watch();
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    for (std::size_t i = 0; i < 13; ++i) ::madvise(address_of(here, i * 7) + 1, page_size(), MADV_WILLNEED);
    for (std::size_t i = 0; i < 11; ++i) ::madvise(address_of(here, i * 7), page_size(), MADV_WILLNEED);
    for (std::size_t i = 0; i < 5; ++i)
      ::posix_fadvise(here.fd, offset_of(100 + i), offset_of(1), POSIX_FADV_WILLNEED);
    for (std::size_t i = 0; i < 3; ++i) ::readahead(here.fd, offset_of(200 + i), page_size());
    for (std::size_t i = 0; i < 2; ++i) by_process_madvise(here, 300 + 2 * i);
    for (std::size_t i = 0; i < 4; ++i) ::readahead(here.fd, offset_of(kPages + i), page_size());
    // Begins in the mapping and ends where nothing is mapped.
    ::munmap(address_of(here, kPages - 1), page_size());
    for (std::size_t i = 0; i < 3; ++i)
      ::madvise(address_of(here, kPages - 2), 2 * page_size(), MADV_WILLNEED);
    for (int i = 0; i < 19; ++i) ::madvise(address_of(here, 0), page_size(), MADV_NORMAL);
  });
  const AttachedFile seen = watched(*watch, target, file);
  CHECK(seen.hints->issued == 13 + 11 + 5 + 3 + 2 + 4 + 3);
  CHECK(seen.hints->rejected == 13 + 3);
  CHECK(seen.hint_errors == std::map<std::string, Count>{{"EINVAL", 13}, {"ENOMEM", 3}});
}

TEST_CASE("attach counts the hints of its target alone, and on the right one of two files") {
  auto watch = load_watch();
  ColdFile file(kPages), others(kPages);
  auto hints = [](std::size_t calls) {
    return [=](const InTarget& here) {
      for (std::size_t i = 0; i < calls; ++i) ::madvise(address_of(here, i), page_size(), MADV_WILLNEED);
    };
  };
  TargetProcess target(file, idle_gate(), hints(7));
  TargetProcess child(others, idle_gate(), hints(5));
  TargetProcess stranger(file, idle_gate(), hints(23));
  REQUIRE(watch->begin({target.target().tgid, child.target().tgid}, true));
  target.run();
  child.run();
  stranger.run();
  watch->stop_counting();
  auto files = watch->files();
  REQUIRE(files);
  REQUIRE(find(*files, file));
  REQUIRE(find(*files, others));
  CHECK(find(*files, file)->counted.hints == 7);
  CHECK(find(*files, others)->counted.hints == 5);
  watch->end();
}

TEST_CASE("attach: of 31 hinted pages 13 are there already") {
  auto watch = load_watch();
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    std::vector<char> page(page_size());
    ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
    for (std::size_t i = 0; i < 13; ++i)
      (void)!::pread(here.fd, page.data(), page.size(), offset_of(100 + i));
    ::madvise(address_of(here, 100), 31 * page_size(), MADV_WILLNEED);
  });
  const AttachedFile seen = watched(*watch, target, file);
  CHECK(seen.hints->issued == 1);
  CHECK(seen.hints->needless_pages == 13);
  CHECK(seen.hints->truncated_pages == 0);
  CHECK(*seen.page_cache->by.hint == 18);
}

TEST_CASE("attach: what a hint on the whole file leaves out") {
  auto watch = load_watch();
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    ::madvise(address_of(here, 0), here.bytes, MADV_WILLNEED);
  });
  const AttachedFile seen = watched(*watch, target, file);
  CHECK(*seen.hints->truncated_pages > 0);
  CHECK(*seen.hints->truncated_pages + *seen.page_cache->by.hint + *seen.hints->needless_pages == kPages);
}

TEST_CASE("attach: a hint on a mapping that begins inside of the file") {
  auto watch = load_watch();
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    void* tail = ::mmap(nullptr, 5 * page_size(), PROT_READ, MAP_SHARED, here.fd, offset_of(kPages - 3));
    ::madvise(tail, 5 * page_size(), MADV_WILLNEED);
    ::munmap(tail, 5 * page_size());
  });
  const AttachedFile seen = watched(*watch, target, file);
  CHECK(seen.hints->issued == 1);
  CHECK(*seen.page_cache->by.hint == 3);
  CHECK(seen.hints->needless_pages == 0);
}

TEST_CASE("attach's own look-ups of mappings are not counted as the target's use of mmap_lock") {
  auto locked = [](const std::vector<std::string>& probes) {
    auto watch = load_watch(probes);
    ColdFile file(kPages);
    TargetProcess target(file, idle_gate(), [](const InTarget& here) {
      for (std::size_t i = 0; i < 997; ++i) ::madvise(address_of(here, i), page_size(), MADV_WILLNEED);
    });
    REQUIRE(watch->begin({target.target().tgid}, true));
    target.run();
    watch->stop_counting();
    auto totals = watch->totals();
    REQUIRE(totals);
    if (!totals->mmap_lock) skip(totals->unavailable["mmap_lock"]);
    watch->end();
    return totals->mmap_lock->read->acquired;
  };
  const auto alone = locked({"mmap_lock"}), beside = locked({"mmap_lock", "syscalls"});
  CHECK(alone >= 997);
  CHECK(beside == alone);
}
