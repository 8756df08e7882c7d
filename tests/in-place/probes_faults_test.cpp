// The kinds and the counts of page faults.

#include <algorithm>
#include <thread>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;

Count file_faults(const Faults& faults) {
  return faults.mapped->count + faults.waited->count + faults.read->count;
}

void advise_random(const InTarget& here) {
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
}

void check_cold_random_touches(ProbeSet& probes, ColdFile& file) {
  constexpr std::size_t kTouched = 1009;
  TargetProcess target(
      file, probes.gate_fd(),
      [](const InTarget& here) {
        for (std::size_t i = 0; i < kTouched; ++i) here.touch(4 * i);
      },
      advise_random);
  file.make_cold();
  ProbeReadings readings = observe(probes, target);
  CHECK(readings.faults->read->count == kTouched);
  CHECK(readings.faults->mapped->count == 0);
  CHECK(readings.faults->waited->count == 0);
  CHECK(readings.faults->read->lat_ns.count() == kTouched);
  CHECK(*readings.page_cache->by.fault == kTouched);
  CHECK(*readings.page_cache->by.readahead == 0);
  CHECK(*readings.page_cache->added_pages == kTouched);
}

}

TEST_CASE("1009 distinct pages touched cold under MADV_RANDOM are 1009 faults that read") {
  ColdFile file(kPages);
  check_cold_random_touches(*load_probes(file, {"faults", "page_cache"}), file);
}

TEST_CASE("1009 cold faults that read, by the second best variants") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"}, without_best_variants());
  check_cold_random_touches(*probes, file);
  CHECK(probes->status()[0].variant->starts_with("raw_tp+perf"));
  CHECK(probes->status()[1].variant == "raw_tp");
}

TEST_CASE("1009 cold faults that read, with perf events at both ends") {
  ColdFile file(kPages);
  HookStates states;
  states[HookId::kFaultStart].refuse("passed over by a test");
  states[HookId::kFaultStart].refuse("passed over by a test");
  auto probes = load_probes(file, {"faults", "page_cache"}, std::move(states));
  check_cold_random_touches(*probes, file);
  CHECK(probes->status()[0].variant->starts_with("perf"));
}

TEST_CASE("faults equal rusage where all are taken in user mode") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    for (std::size_t page = 0; page < kPages; page += 7) here.touch(page);
    constexpr std::size_t kAnonymous = 10007;
    auto* fresh =
        static_cast<volatile char*>(::mmap(nullptr, kAnonymous * page_size(), PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t page = 0; page < kAnonymous; ++page) fresh[page * page_size()] = 1;
  });
  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  WindowUsage window = target.run();
  auto readings = probes->read();
  REQUIRE(readings);
  const Faults& faults = *readings->faults;
  CHECK(*faults.minor == window.minor_faults);
  CHECK(*faults.major == window.major_faults);
  CHECK(window.minor_faults > 0);
  CHECK(window.major_faults > 0);
  CHECK(faults.other->count > 0);
  CHECK(file_faults(faults) + faults.other->count == window.minor_faults + window.major_faults);
  CHECK(*faults.under_vma_lock + *faults.under_mmap_lock == file_faults(faults));
  CHECK(readings->probes.front().unmatched == 0);
}

TEST_CASE("faults of several threads equal rusage") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < 5; ++first)
      threads.emplace_back([&here, first] {
        for (std::size_t page = first; page < kPages; page += 5) here.touch(page);
      });
    for (std::thread& thread : threads) thread.join();
  });
  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  WindowUsage window = target.run();
  auto readings = probes->read();
  REQUIRE(readings);
  // Starting a thread has the kernel write to the target's memory, once or twice outside a fault of its own.
  Count seen = *readings->faults->minor + *readings->faults->major;
  CHECK(seen <= window.minor_faults + window.major_faults);
  CHECK(seen + 20 >= window.minor_faults + window.major_faults);
  CHECK(readings->faults->read->count > 0);
  CHECK(readings->probes.front().unmatched == 0);
}

TEST_CASE("a hint followed at once by a touch makes the touch wait, never read") {
  constexpr std::size_t kHint = 32;  // pages: as many as the least readahead setting lets through
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        for (std::size_t round = 0; round < 61; ++round) {
          std::size_t first = 2 * kHint * round;
          ::madvise(const_cast<std::byte*>(here.file) + first * page_size(), kHint * page_size(),
                    MADV_WILLNEED);
          here.touch(first + kHint - 1);
        }
      },
      advise_random);
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.faults->waited->count > 0);
  CHECK(readings.faults->read->count == 0);
  CHECK(file_faults(*readings.faults) == 61);
  CHECK(*readings.page_cache->by.hint == 61 * kHint);
  CHECK(*readings.page_cache->added_pages == 61 * kHint);
}

TEST_CASE("a fault that only starts readahead for later pages is no read") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        for (std::size_t page = 0; page < kPages; ++page) here.touch(page);
      },
      [](const InTarget& here) {
        ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_SEQUENTIAL);
      });
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.faults->read->count == *readings.page_cache->by.fault);
  CHECK(readings.faults->read->count > 0);
  CHECK(readings.faults->mapped->count + readings.faults->waited->count > 0);
}

TEST_CASE("resident pages are mapped") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  CHECK(exact_once_in_5([&] {
    TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
      for (std::size_t page = 0; page < kPages; ++page) here.touch(page);
    });
    file.make_cold();
    file.fill_page_by_page();
    ProbeReadings readings = observe(*probes, target);
    const Faults& faults = *readings.faults;
    bool some_mapped = faults.mapped->count >= kPages / 16;  // fault-around maps 16 at most
    return some_mapped && faults.mapped->count <= kPages && faults.waited->count == 0 &&
           faults.read->count == 0 && *readings.page_cache->added_pages == 0;
  }));
}

TEST_CASE("a fault inside read(2) is held under mmap_lock, one from user mode mostly is not") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "mmap_lock"});
  UniqueFd pipe_ends[2];
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  pipe_ends[0].reset(ends[0]);
  pipe_ends[1].reset(ends[1]);
  // write(2) from a mapping: the kernel takes the fault on the thread's behalf.
  TargetProcess target(file, probes->gate_fd(), [&](const InTarget& here) {
    static char drain[1];
    for (std::size_t page = 0; page < kPages; page += 64) {
      (void)!::write(ends[1], const_cast<std::byte*>(here.file) + page * page_size(), 1);
      (void)!::read(ends[0], drain, 1);
    }
  });
  file.make_cold();
  file.fill_page_by_page();
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.faults->mapped->count == kPages / 64);
  CHECK(*readings.faults->under_mmap_lock == kPages / 64);
  CHECK(*readings.faults->under_vma_lock == 0);
  CHECK(readings.mmap_lock->read->acquired >= kPages / 64);
  CHECK(readings.mmap_lock->read->wait_ns.count() == readings.mmap_lock->read->acquired);
}
