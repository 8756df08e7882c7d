// Where a thread's time goes: each wait in one place, and nothing where nothing was waited for.

#include <linux/futex.h>
#include <sys/syscall.h>

#include <cmath>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;

double seconds_of(const Histogram& latency) {
  return static_cast<double>(latency.sum()) / 1e9;
}

double seconds_in(const ProbeReadings& readings, std::string_view call) {
  for (const SyscallCount& entry : *readings.syscalls)
    if (entry.name == call && !entry.error) return seconds_of(*entry.lat_ns);
  return 0;
}

bool equal(double a, double b) {
  return std::abs(a - b) < 1e-7;
}

}

TEST_CASE("cold faults wait in faults, exactly as long as they take") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        for (std::size_t i = 0; i < 101; ++i) here.touch(40 * i);
      },
      [](const InTarget& here) { ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM); });
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  const Faults& faults = *readings.faults;
  CHECK(*readings.time->fault_wait_s > 0);
  CHECK(equal(*readings.time->fault_wait_s,
              seconds_of(faults.read->lat_ns) + seconds_of(faults.waited->lat_ns)));
  CHECK(*readings.time->read_wait_s == 0);
  CHECK(*readings.time->lock_wait_s == 0);
  CHECK_FALSE(readings.time->running_s);
}

TEST_CASE("cold reads wait in reads, warm ones nowhere") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(
      file, *probes,
      [](const InTarget& here) {
        static char buffer[4096];
        for (int i = 0; i < 101; ++i) (void)!::pread(here.fd, buffer, sizeof(buffer), 4096 * 40 * i);
      },
      [](const InTarget& here) { ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM); });
  file.make_cold();
  ProbeReadings cold = observe(*probes, target);
  CHECK(*cold.time->read_wait_s > 0);
  CHECK(*cold.time->read_wait_s <= seconds_in(cold, "pread64") + 1e-7);
  CHECK(*cold.time->fault_wait_s == 0);
  CHECK(exact_once_in_5([&] {
    file.fill_page_by_page();
    ProbeReadings warm = observe(*probes, target);
    return calls(warm, "pread64") == 101 && *warm.time->read_wait_s == 0;
  }));
}

TEST_CASE("a sleep in futex(2) is a wait for a lock, a call that need not sleep is none") {
  ColdFile file(64);
  auto probes = load_probes(file);
  SharedCount sleeps;
  TargetProcess target(file, *probes, [&](const InTarget&) {
    static std::uint32_t word = 0;
    const timespec pause{0, 5'000'000};
    std::uint32_t expected = sleeps->load() ? 0 : 1;  // 1: returns at once with EAGAIN
    for (int i = 0; i < 3; ++i) ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &pause, nullptr, 0);
  });
  ProbeReadings at_once = observe(*probes, target);
  CHECK(calls(at_once, "futex", "EAGAIN") == 3);
  CHECK(*at_once.time->lock_wait_s == 0);
  sleeps->store(1);
  ProbeReadings slept = observe(*probes, target);
  CHECK(calls(slept, "futex", "ETIMEDOUT") == 3);
  CHECK(*slept.time->lock_wait_s >= 0.015);
  CHECK(equal(*slept.time->lock_wait_s, seconds_in(slept, "futex")));
}

TEST_CASE("a part of the time that no probe sees is unknown, with the reason") {
  ColdFile file(64);
  auto probes = load_probes(file, {"faults"});
  TargetProcess target(file, *probes, [](const InTarget& here) { here.touch(0); });
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.time->fault_wait_s);
  CHECK_FALSE(readings.time->read_wait_s);
  CHECK_FALSE(readings.time->lock_wait_s);
  CHECK(readings.unavailable.at("time.read_wait_s") == "system calls: not asked for");
}
