// Threads that come and go: each is counted under its own id, however many there are.

#include <array>
#include <thread>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 256;
constexpr std::size_t kThreads = 10'000, kAlive = 50;

// One page, and for each third thread one more at a descriptor that is none.
void live_shortly(const InTarget& here, std::size_t number) {
  std::array<char, 512> buffer;
  (void)!::pread(here.fd, buffer.data(), buffer.size(), static_cast<off_t>(number % kPages * page_size()));
  if (number % 3 == 0) (void)!::pread(-1, buffer.data(), buffer.size(), 0);
}

void run_short_threads(const InTarget& here) {
  std::array<std::thread, kAlive> alive;
  for (std::size_t number = 0; number < kThreads; ++number) {
    std::thread& place = alive[number % kAlive];
    if (place.joinable()) place.join();
    place = std::thread([&here, number] { live_shortly(here, number); });
  }
  for (std::thread& thread : alive) thread.join();
}

}

TEST_CASE("10000 short threads: each of their reads is counted, and none takes another's place") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(file, *probes, run_short_threads);
  ProbeReadings readings = observe(*probes, target);  // checks that no probe lost anything
  constexpr std::size_t kFailing = (kThreads + 2) / 3;
  CHECK(calls(readings, "pread64") == kThreads);
  CHECK(calls(readings, "pread64", "EBADF") == kFailing);
  for (const SyscallCount& entry : *readings.syscalls)
    if (entry.name == "pread64" && !entry.error) CHECK(entry.lat_ns->count() == kThreads + kFailing);
  // A thread's state is displaced only while it is in use, by a thread 65536 ids away: never that of one that
  // has ended. A displaced one would stand in the losses, and the end of its call among the unmatched.
  for (const ProbeStatus& status : readings.probes) {
    INFO(status.name);
    CHECK(status.lost == 0);
    CHECK(status.unmatched == 0);
  }
  CHECK(*readings.page_cache->added_pages == kPages + *readings.page_cache->refault_pages);
  CHECK(*readings.page_cache->by.other == 0);
  // Each thread's stack is mapped, protected and unmapped under the lock of all, for writing.
  CHECK(readings.mmap_lock->write->acquired >= kAlive);
}
