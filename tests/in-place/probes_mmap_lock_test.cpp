// Acquisitions of mmap_lock, and who held it when another thread wanted it.

#include <pthread.h>

#include <algorithm>
#include <thread>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kProtected = 64ull << 20;

// A thread of the target that protects and unprotects many pages, which the kernel does under mmap_lock for
// writing. It lives as long as the target, so that its name can be asked for.
struct Writer {
  std::atomic<bool> wanted{false}, done{false};

  void start() {
    std::thread([this] {
      ::pthread_setname_np(::pthread_self(), "test-writer");
      void* pages = ::mmap(nullptr, kProtected, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      for (;;) {
        while (!wanted.load()) ::usleep(100);
        for (int i = 0; i < 50; ++i)
          ::mprotect(pages, kProtected, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ);
        wanted = false;
        done = true;
      }
    }).detach();
  }
};

}

TEST_CASE("23 mmap/munmap pairs take mmap_lock for writing 46 times") {
  ColdFile file(64);
  auto probes = load_probes(file, {"mmap_lock"}, GENERATE(0, 1) ? without_best_variants() : HookStates());
  TargetProcess target(file, *probes, [](const InTarget&) {
    for (int i = 0; i < 23; ++i)
      ::munmap(::mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page_size());
  });
  target.run(false);  // a fault on the work's own code takes the lock, where there are no per-VMA ones
  ProbeReadings readings = observe(*probes, target);
  const MmapLock& lock = *readings.mmap_lock;
  CHECK(lock.write->acquired == 46);
  CHECK(lock.write->contended == 0);
  CHECK(lock.write->wait_ns.count() == 46);
  CHECK(lock.read->acquired == 0);
  CHECK(lock.write->slow_path == 0);
  CHECK(lock.read->slow_path == 0);
  REQUIRE(lock.holders);
  CHECK(lock.holders->empty());
}

TEST_CASE("a writer that makes readers wait is named with its call") {
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls", "mmap_lock"});
  static Writer writer;
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        static unsigned char in_core[1];
        writer.done = false;
        writer.wanted = true;
        while (!writer.done.load()) ::mincore(const_cast<std::byte*>(here.file), page_size(), in_core);
      },
      [](const InTarget&) { writer.start(); });
  target.run(false);  // as above
  bool waited = false;
  for (int attempt = 0; attempt < 20 && !waited; ++attempt) {
    ProbeReadings readings = observe(*probes, target);
    const MmapLock& lock = *readings.mmap_lock;
    CHECK(lock.write->acquired == 50);
    CHECK(lock.read->acquired == calls(readings, "mincore"));
    waited = lock.read->contended > 0;
    if (!waited) continue;
    if (lock.read->slow_path)
      CHECK(*lock.read->slow_path >= lock.read->contended);
    else
      CHECK_FALSE(readings.unavailable.at("mmap_lock.read.slow_path").empty());
    CHECK(*readings.time->lock_wait_s > 0);
    auto named = std::ranges::find_if(*lock.holders, [](const LockHolder& holder) {
      return holder.thread == "test-writer" && holder.syscall == "mprotect";
    });
    REQUIRE(named != lock.holders->end());
    Count times = 0;
    for (const LockHolder& holder : *lock.holders) times += holder.times;
    CHECK(named->times == lock.read->contended);
    CHECK(times == lock.read->contended + lock.write->contended);
  }
  CHECK(waited);
}

TEST_CASE("a lock that nobody else wants has no holder to be named") {
  ColdFile file(64);
  auto probes = load_probes(file, {"mmap_lock"});
  TargetProcess target(file, *probes, [](const InTarget& here) {
    for (int i = 0; i < 100; ++i) ::madvise(const_cast<std::byte*>(here.file), page_size(), MADV_RANDOM);
  });
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.mmap_lock->write->acquired == 100);
  CHECK(readings.mmap_lock->holders->empty());
}
