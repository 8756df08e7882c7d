// How long mmap_lock is held, and what another thread's holding it does to faults.

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/in-place/probes_fixture.h"
#include "userspace/probes/kernel_btf.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;

// A thread of the target that maps, fills and unmaps memory as long as it is told to.
struct Churn {
  std::atomic<bool> wanted{false}, done{true};

  void start(SharedCount& tid) {
    std::thread([this, &tid] {
      ::pthread_setname_np(::pthread_self(), "test-churn");
      tid->store(static_cast<std::uint64_t>(::gettid()));
      for (;;) {
        while (!wanted.load()) ::usleep(100);
        done = false;
        while (wanted.load()) cycle();
        done = true;
      }
    }).detach();
    while (tid->load() == 0) ::usleep(100);
  }
  static void cycle() {
    constexpr std::size_t kBytes = 4 << 20;
    void* pages =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    for (int i = 0; i < 10; ++i) ::mprotect(pages, kBytes, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ);
    ::munmap(pages, kBytes);
  }
};

}

TEST_CASE("23 mmap/munmap pairs hold mmap_lock 46 times, and no longer than they take") {
  ColdFile file(64);
  auto probes = load_probes(file, {"mmap_lock"}, GENERATE(0, 1) ? without_best_variants() : HookStates());
  SharedCount took_ns;
  TargetProcess target(file, *probes, [&](const InTarget&) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 23; ++i)
      ::munmap(::mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page_size());
    took_ns->store(static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begin).count()));
  });
  target.run(false);  // a fault on the work's own code takes the lock, where there are no per-VMA ones
  ProbeReadings readings = observe(*probes, target);
  const MmapLock& lock = *readings.mmap_lock;
  CHECK(lock.write->hold_ns->count() == 46);
  // munmap goes on as a reader, without asking for it.
  CHECK(lock.read->hold_ns->count() == 23);
  CHECK(lock.read->acquired == 0);
  CHECK(lock.write->hold_ns->sum() > 0);
  CHECK(lock.write->hold_ns->sum() + lock.read->hold_ns->sum() <= took_ns->load());
}

TEST_CASE("churn makes faults wait where there are no per-VMA locks, and hardly where there are") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache", "mmap_lock"});
  auto kernel = KernelBtf::load();
  REQUIRE(kernel);
  static Churn churn;
  SharedCount tid;
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        churn.wanted = true;
        while (churn.done.load()) sched_yield();
        for (int round = 0; round < 5; ++round) {
          for (std::size_t page = 0; page < kPages; page += 17) here.touch(page);
          ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
        }
        churn.wanted = false;
        while (!churn.done.load()) sched_yield();
      },
      [&](const InTarget&) { churn.start(tid); });
  file.fill_page_by_page();
  ProbeTarget whose = target.target();
  whose.excluded_tid = static_cast<pid_t>(tid->load());
  bool waited = false;
  for (int attempt = 0; attempt < 20 && !waited; ++attempt) {
    REQUIRE(probes->attach(whose));
    target.run();
    auto readings = probes->read();
    probes->detach();
    REQUIRE(readings);
    const Faults& faults = *readings->faults;
    const MmapLock& lock = *readings->mmap_lock;
    CHECK(lock.write->acquired == 0);
    CHECK(lock.write->hold_ns->count() > 0);  // the churn's, which the rest waits for
    REQUIRE(faults.mapped->count > 0);
    if (kernel->has_per_vma_locks()) {
      CHECK(*faults.under_vma_lock > 9 * *faults.under_mmap_lock);
      return;
    }
    CHECK(*faults.under_vma_lock == 0);
    waited = lock.read->contended > 0;
    if (!waited) continue;
    CHECK(std::ranges::any_of(*lock.holders,
                              [](const LockHolder& holder) { return holder.thread == "test-churn"; }));
  }
  CHECK(waited);
}
