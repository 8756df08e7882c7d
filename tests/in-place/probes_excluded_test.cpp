// A thread that is there to disturb: of what it does nothing is counted but how long it holds mmap_lock.

#include <thread>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr int kCycles = 23;

// Maps, touches and unmaps a page as often as that, when it is told to.
struct Disturber {
  std::atomic<bool> wanted{false};
  std::atomic<bool> ready{false};

  void start(SharedCount& tid) {
    std::thread([this, &tid] {
      tid->store(static_cast<std::uint64_t>(::gettid()));
      cycle();  // its stack is touched
      ready = true;
      for (;;) {
        while (!wanted.load()) ::usleep(100);
        for (int i = 0; i < kCycles; ++i) cycle();
        wanted = false;
      }
    }).detach();
    while (!ready.load()) ::usleep(100);
  }
  static void cycle() {
    void* page = ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(page) = 1;
    ::munmap(page, page_size());
  }
};

}

TEST_CASE("faults, calls and waits of the excluded thread are not counted, its holding of mmap_lock is") {
  const bool exclude = GENERATE(true, false);
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls", "faults", "mmap_lock"});
  static Disturber disturber;
  SharedCount tid;
  TargetProcess target(
      file, *probes,
      [](const InTarget&) {
        disturber.wanted = true;
        while (disturber.wanted.load()) sched_yield();
      },
      [&tid](const InTarget&) { disturber.start(tid); });
  ProbeTarget whose = target.target();
  if (exclude) whose.excluded_tid = static_cast<pid_t>(tid->load());
  REQUIRE(probes->attach(whose));
  target.run();
  auto readings = probes->read();
  probes->detach();
  REQUIRE(readings);

  CHECK(readings->mmap_lock->write->acquired == (exclude ? 0 : 2 * kCycles));
  CHECK(readings->mmap_lock->write->hold_ns->count() == 2 * kCycles);
  CHECK(readings->mmap_lock->write->wait_ns.count() == (exclude ? 0 : 2 * kCycles));
  CHECK(calls(*readings, "mmap") == (exclude ? 0 : kCycles));
  CHECK(calls(*readings, "munmap") == (exclude ? 0 : kCycles));
  CHECK(*readings->faults->minor == (exclude ? 0 : kCycles));
}
