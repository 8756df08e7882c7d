// A hint's report card: needless, truncated, late, in time, useless, withheld, by each way of hinting.

#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/in-place/probes_fixture.h"
#include "userspace/strategies/strategy.h"
#include "userspace/worker/page_marks.h"

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

off_t offset_of(std::size_t page) {
  return static_cast<off_t>(page * page_size());
}
void* address_of(const InTarget& here, std::size_t page) {
  return const_cast<std::byte*>(here.file) + page * page_size();
}

// Each way to hint at pages [first, first + pages) of the file.
using GiveHint = void (*)(const InTarget& here, std::size_t first, std::size_t pages);

void by_madvise(const InTarget& here, std::size_t first, std::size_t pages) {
  ::madvise(address_of(here, first), pages * page_size(), MADV_WILLNEED);
}
void by_fadvise(const InTarget& here, std::size_t first, std::size_t pages) {
  ::posix_fadvise(here.fd, offset_of(first), offset_of(pages), POSIX_FADV_WILLNEED);
}
void by_readahead(const InTarget& here, std::size_t first, std::size_t pages) {
  ::readahead(here.fd, offset_of(first), pages * page_size());
}
// In two elements.
void by_process_madvise(const InTarget& here, std::size_t first, std::size_t pages) {
  UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  iovec elements[] = {{address_of(here, first), page_size()},
                      {address_of(here, first + 1), (pages - 1) * page_size()}};
  ::process_madvise(self.get(), elements, 2, MADV_WILLNEED, 0);
}

constexpr GiveHint kWays[] = {by_madvise, by_fadvise, by_readahead, by_process_madvise};

// mincore(2) on the target's own mapping, 5 s at most.
void await_resident(const InTarget& here, std::size_t first, std::size_t pages) {
  std::vector<unsigned char> in_core(pages);
  for (int attempt = 0; attempt < 5000; ++attempt) {
    ::mincore(address_of(here, first), pages * page_size(), in_core.data());
    if (std::ranges::all_of(in_core, [](unsigned char page) { return page & 1; })) return;
    ::usleep(1000);
  }
}

Hints hints_of(ProbeSet& probes, TargetProcess& target, ColdFile& file) {
  file.make_cold();
  ProbeReadings readings = observe(probes, target);
  CHECK(*readings.hints->in_time_pages + *readings.hints->late_pages + *readings.hints->useless_pages ==
        *readings.page_cache->by.hint);
  return *readings.hints;
}

}

TEST_CASE("a hint on 37 pages that are cached is needless 37 times, by each way of hinting") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const GiveHint hint = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  TargetProcess target(file, *probes, [&](const InTarget& here) { hint(here, 100, 37); });
  CHECK(exact_once_in_5([&] {
    file.fill_page_by_page();
    Hints hints = *observe(*probes, target).hints;
    return *hints.needless_pages == 37 && *hints.truncated_pages == 0 && *hints.useless_pages == 0;
  }));
}

TEST_CASE("of a hint on 31 pages of which 13 are cached, 13 are needless, by each way of hinting") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const GiveHint hint = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  TargetProcess target(file, *probes, [&](const InTarget& here) {
    hint(here, 100, 13);
    hint(here, 95, 31);
  });
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.needless_pages == 13);
  CHECK(*hints.truncated_pages == 0);
  CHECK(*hints.useless_pages == 31);
}

TEST_CASE("a misaligned hint is rejected, and nothing else") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    for (std::size_t i = 1; i <= 7; ++i)
      ::madvise(static_cast<std::byte*>(address_of(here, 5)) + i, page_size(), MADV_WILLNEED);
  });
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.issued == 7);
  CHECK(*hints.rejected == 7);
  CHECK(*hints.needless_pages + *hints.truncated_pages + *hints.late_pages + *hints.useless_pages == 0);
}

TEST_CASE("one hint on 64 MiB is truncated to what the kernel reads for one call, to the page") {
  constexpr std::size_t kMany = 16384;
  ColdFile file(kMany);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const GiveHint hint = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  TargetProcess target(file, *probes, [&](const InTarget& here) { hint(here, 0, kMany); });
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.truncated_pages > 0);
  CHECK(*hints.truncated_pages + *hints.useless_pages == kMany);
  CHECK(*hints.needless_pages == 0);
}

TEST_CASE("what a hint asks for behind the end of the file is neither needless nor truncated") {
  ColdFile file(100);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    by_readahead(here, 95, 1 << 20);
    ::posix_fadvise(here.fd, offset_of(90), 0, POSIX_FADV_WILLNEED);  // 0: to the end
  });
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.needless_pages == 5);
  CHECK(*hints.truncated_pages == 0);
  CHECK(*hints.useless_pages == 10);
}

TEST_CASE("pages that are touched while their hint is in flight are late") {
  constexpr std::size_t kHinted = 101;
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const GiveHint hint = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  TargetProcess target(
      file, *probes,
      [&](const InTarget& here) {
        for (std::size_t i = 0; i < kHinted; ++i) {
          hint(here, 16 * i, 2);
          here.touch(16 * i);
        }
      },
      advise_random);
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.late_pages > 0);
  CHECK(*hints.late_pages <= kHinted);
  CHECK(*hints.useless_pages == kHinted);
}

TEST_CASE("pages that are read while their hint is in flight are late") {
  constexpr std::size_t kHinted = 101;
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const bool at_position = GENERATE(false, true);
  TargetProcess target(
      file, *probes,
      [&](const InTarget& here) {
        char byte;
        for (std::size_t i = 0; i < kHinted; ++i) {
          by_fadvise(here, 16 * i, 1);
          if (at_position) {
            ::lseek(here.fd, offset_of(16 * i), SEEK_SET);
            (void)!::read(here.fd, &byte, 1);
          } else {
            (void)!::pread(here.fd, &byte, 1, offset_of(16 * i));
          }
          here.mark(16 * i);
        }
      },
      fadvise_random);
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.late_pages > 0);
  CHECK(*hints.late_pages <= kHinted);
  CHECK(*hints.useless_pages == 0);
}

TEST_CASE("29 pages that have arrived before they are touched are in time, none is late") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const GiveHint hint = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  TargetProcess target(
      file, *probes,
      [&](const InTarget& here) {
        char byte;
        hint(here, 100, 29);
        await_resident(here, 100, 29);
        for (std::size_t page = 100; page < 110; ++page) here.touch(page);
        for (std::size_t page = 110; page < 129; ++page) {
          (void)!::pread(here.fd, &byte, 1, offset_of(page));
          here.mark(page);
        }
      },
      advise_random);
  CHECK(exact_once_in_5([&] {
    Hints hints = hints_of(*probes, target, file);
    return *hints.in_time_pages == 29 && *hints.late_pages == 0 && *hints.useless_pages == 0;
  }));
}

TEST_CASE("hints of another process count nowhere but in who brought the pages") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) { here.await_signal(1); });
  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  for (int time = 0; time < 2; ++time) REQUIRE(::readahead(file.fd(), 0, 13 * page_size()) == 0);
  target.signal(1);
  target.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  CHECK(*readings->page_cache->by.other == 13);
  CHECK(*readings->hints->issued == 0);
  CHECK(*readings->hints->needless_pages == 0);
  CHECK(*readings->hints->useless_pages == 0);
}

TEST_CASE("hints on another file, another mapping or another process are of no page of this file") {
  ColdFile file(kPages), unrelated(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  UniqueFd other = unrelated.open();
  const pid_t parent = ::getpid();
  TargetProcess target(file, *probes, [&](const InTarget& here) {
    for (int time = 0; time < 2; ++time) {
      ::readahead(other.get(), 0, 11 * page_size());
      ::posix_fadvise(other.get(), 0, offset_of(11), POSIX_FADV_WILLNEED);
      void* map = ::mmap(nullptr, 11 * page_size(), PROT_READ, MAP_SHARED, other.get(), 0);
      ::madvise(map, 11 * page_size(), MADV_WILLNEED);
      ::munmap(map, 11 * page_size());
      // The same addresses in a process where they are no mapping of the file: refused, or of something else.
      UniqueFd somebody(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
      iovec element{address_of(here, 0), 11 * page_size()};
      ::process_madvise(somebody.get(), &element, 1, MADV_WILLNEED, 0);
    }
  });
  Hints hints = hints_of(*probes, target, file);
  CHECK(*hints.issued == 8);
  CHECK(*hints.needless_pages + *hints.truncated_pages + *hints.useless_pages == 0);
}

TEST_CASE("pages of hints withheld count if they were absent, each time that they were") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  const auto read_pages = [](const InTarget& here, std::size_t first, std::size_t pages) {
    std::vector<char> buffer(pages * page_size());
    (void)!::pread(here.fd, buffer.data(), buffer.size(), offset_of(first));
    here.mark(first, pages);
  };
  const auto withhold = [](const InTarget& here, std::size_t first, std::size_t pages) {
    const std::span<std::byte> ledger(const_cast<std::byte*>(here.ledger), kPages);
    const std::uint64_t offset = first * page_size();
    PageMarks(ledger, std::byte(here.marking->mark), page_size())
        .mark_withheld({&offset, 1}, pages * page_size());
  };
  TargetProcess target(
      file, *probes,
      [&](const InTarget& here) {
        read_pages(here, 100, 7);
        withhold(here, 100, 20);  // 7 are cached, 13 are not
        read_pages(here, 100, 20);
        ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED);
        withhold(here, 100, 5);  // none is cached
        read_pages(here, 95, 20);
      },
      fadvise_random);
  ProbeTarget marking = target.target();
  marking.marks_withheld = true;
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    REQUIRE(probes->attach(marking));
    target.run();
    auto readings = probes->read();
    probes->detach();
    REQUIRE(readings);
    return *readings->hints->suppressed_absent_pages == 13 + 5 && *readings->page_cache->added_pages == 40 &&
           *readings->page_cache->used_pages == 40 && *readings->page_cache->refault_pages == 15;
  }));
  file.make_cold();
  ProbeReadings unmarked = observe(*probes, target);
  CHECK_FALSE(unmarked.hints->suppressed_absent_pages);
  CHECK(unmarked.unavailable.at("hints.suppressed_absent_pages") ==
        "no hint is withheld, or none is marked so");
}

TEST_CASE("a back-off that cached pages taught withholds 144 hints when they are gone") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls", "page_cache"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    constexpr std::size_t kBatch = 16, kSize = 100;
    auto strategy = find_strategy("mmap-random-willneed-backoff")
                        ->prepare({.fd = here.fd,
                                   .size_bytes = here.bytes,
                                   .mapping = const_cast<std::byte*>(here.file),
                                   .page_size_bytes = page_size()},
                                  {.read_size_bytes = kSize, .reads_per_op = kBatch});
    auto reader = (*strategy)();
    const PageMarks marks({const_cast<std::byte*>(here.ledger), kPages}, std::byte(here.marking->mark),
                          page_size());
    Sink sink;
    for (std::size_t batch = 0; batch < 32; ++batch) {
      if (batch == 23) {  // 368 hints: the next look is at 512
        ::madvise(address_of(here, 0), here.bytes, MADV_DONTNEED);
        ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED);
      }
      std::array<std::uint64_t, kBatch> offsets;
      for (std::size_t i = 0; i < kBatch; ++i) offsets[i] = (batch * kBatch + i) * (11 * page_size() + 7);
      if (!(*reader)->announce(offsets)) ::_exit(1);
      marks.mark_withheld((*reader)->suppressed_offsets(), kSize);
      if (!(*reader)->read_batch(offsets, sink)) ::_exit(1);
      marks.mark(offsets, kSize);
    }
  });
  ProbeTarget marking = target.target();
  marking.marks_withheld = true;
  CHECK(exact_once_in_5([&] {
    file.fill_page_by_page();
    REQUIRE(probes->attach(marking));
    target.run();
    auto readings = probes->read();
    probes->detach();
    REQUIRE(readings);
    return *readings->hints->suppressed_absent_pages == 144 && *readings->page_cache->added_pages == 144 &&
           *readings->page_cache->used_pages == 144;
  }));
}
