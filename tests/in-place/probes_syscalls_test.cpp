// What the syscalls probe counts, and for whom.

#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

void misaligned_hints(const InTarget& here, int count) {
  for (int i = 0; i < count; ++i)
    ::madvise(const_cast<std::byte*>(here.file) + 1 + i, 3 * page_size(), MADV_WILLNEED);
}

void check_misaligned_hints(ProbeSet& probes, const ColdFile& file) {
  SharedCount others;
  // Somebody else, who does the same from before the window until after it.
  TargetProcess other(file, probes.gate_fd(), [&](const InTarget& here) {
    while (here.signal->load() == 0) {
      misaligned_hints(here, 1);
      others->fetch_add(1);
    }
  });
  TargetProcess target(file, probes.gate_fd(), [&](const InTarget& here) {
    misaligned_hints(here, 23);
    std::uint64_t seen = others->load();
    while (others->load() < seen + 100) sched_yield();
  });
  other.begin(false);
  other.await_open();
  ProbeReadings readings = observe(probes, target);
  other.signal(1);
  other.finish();

  REQUIRE(readings.madvise->size() == 1);
  const MadviseCount& hint = readings.madvise->front();
  CHECK(hint.advice == "WILLNEED");
  CHECK(hint.error == "EINVAL");
  CHECK(hint.calls == 23);
  CHECK(hint.misaligned == 23);
  CHECK(hint.requested_bytes == 23 * 3 * page_size());
  CHECK(calls(readings, "madvise", "EINVAL") == 23);
  CHECK(calls(readings, "madvise") == 0);
  // The latency of all stands at success, of which there was none.
  REQUIRE(readings.syscalls->size() == 2);
  CHECK(readings.syscalls->front().lat_ns->count() == 23);
}

}

TEST_CASE("23 misaligned hints are 23 EINVAL, and another process's are nobody's") {
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls"});
  check_misaligned_hints(*probes, file);
}

TEST_CASE("23 misaligned hints are 23 EINVAL by the second best variant") {
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls"}, without_best_variants());
  check_misaligned_hints(*probes, file);
  // io_uring's completions have two layouts, of which a kernel has one: passed over, or the second.
  const std::string variant = probes->status().front().variant.value_or("none");
  CHECK((variant == "raw_tp" || variant == "raw_tp+tp_btf"));
  CHECK(probes->status().front().reason->starts_with("system calls: tp_btf: passed over by a test"));
}

TEST_CASE("madvise is told apart by advice and result") {
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    auto* map = const_cast<std::byte*>(here.file);
    for (int i = 0; i < 7; ++i) ::madvise(map, page_size(), MADV_RANDOM);
    for (int i = 0; i < 5; ++i) ::madvise(map, 2 * page_size(), MADV_DONTNEED);
    for (int i = 0; i < 3; ++i) ::madvise(map, page_size(), 77);
  });
  ProbeReadings readings = observe(*probes, target);
  REQUIRE(readings.madvise->size() == 3);
  const auto& [random, dont_need, unknown] =
      std::tie((*readings.madvise)[0], (*readings.madvise)[1], (*readings.madvise)[2]);
  CHECK((random.advice == "RANDOM" && !random.error && random.calls == 7 && random.misaligned == 0));
  CHECK((dont_need.advice == "DONTNEED" && dont_need.requested_bytes == 10 * page_size()));
  CHECK((unknown.advice == "advice 77" && unknown.error == "EINVAL" && unknown.calls == 3));
  CHECK(calls(readings, "madvise") == 12);
  CHECK(calls(readings, "madvise", "EINVAL") == 3);
}

TEST_CASE("each followed call is counted by its result") {
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    static char buffer[4096];
    iovec vector{buffer, sizeof(buffer)};
    static unsigned char in_core[64];
    auto* map = const_cast<std::byte*>(here.file);
    for (int i = 0; i < 29; ++i) (void)!::pread(here.fd, buffer, sizeof(buffer), 4096 * i);
    for (int i = 0; i < 19; ++i) (void)!::pread(-1, buffer, sizeof(buffer), 0);
    for (int i = 0; i < 17; ++i) (void)!::preadv(here.fd, &vector, 1, 0);
    for (int i = 0; i < 13; ++i) (void)!::preadv2(here.fd, &vector, 1, 0, 0);
    for (int i = 0; i < 11; ++i) (void)!::read(here.fd, buffer, 1);
    for (int i = 0; i < 7; ++i) ::mincore(map, here.bytes, in_core);
    for (int i = 0; i < 5; ++i) ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
    for (int i = 0; i < 3; ++i) ::readahead(-1, 0, 0);
    for (int i = 0; i < 23; ++i) {
      void* other = ::mmap(nullptr, page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ::mprotect(other, page_size(), PROT_NONE);
      ::munmap(other, page_size());
    }
    for (int i = 0; i < 31; ++i) (void)!::getppid();  // not followed
  });
  ProbeReadings readings = observe(*probes, target);
  CHECK(calls(readings, "pread64") == 29);
  CHECK(calls(readings, "pread64", "EBADF") == 19);
  CHECK(calls(readings, "preadv") == 17);
  CHECK(calls(readings, "preadv2") == 13);
  CHECK(calls(readings, "read") == 11);
  CHECK(calls(readings, "mincore") == 7);
  CHECK(calls(readings, "fadvise64") == 5);
  CHECK(calls(readings, "readahead") == 0);
  CHECK(calls(readings, "readahead", "EBADF") == 3);
  CHECK(calls(readings, "mmap") == 23);
  CHECK(calls(readings, "mprotect") == 23);
  CHECK(calls(readings, "munmap") == 23);
  CHECK(readings.syscalls->size() == 12);
  CHECK(readings.probes.front().unmatched == 0);
  for (const SyscallCount& entry : *readings.syscalls)
    if (entry.name == "pread64" && !entry.error) {
      CHECK(entry.lat_ns->count() == 48);
      CHECK(*entry.lat_ns->min() > 0);
      CHECK(*entry.lat_ns->min() <= *entry.lat_ns->max());
      // The kernel's bins are where the record's are.
      CHECK(entry.lat_ns->bins().begin()->first == histogram_bin(*entry.lat_ns->min(), kKernelSubBits));
      CHECK(entry.lat_ns->bins().rbegin()->first == histogram_bin(*entry.lat_ns->max(), kKernelSubBits));
    }
}

TEST_CASE("only the selected probes give readings") {
  ColdFile file(64);
  auto probes = load_probes(file, {"faults"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) { here.touch(3); });
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.faults);
  CHECK_FALSE(readings.syscalls);
  CHECK_FALSE(readings.madvise);
  CHECK_FALSE(readings.page_cache);
  CHECK_FALSE(readings.mmap_lock);
  REQUIRE(readings.probes.size() == 1);
  CHECK(readings.probes.front().name == "faults");
}

TEST_CASE("a probe that does not exist is named in the error") {
  ColdFile file(1);
  auto probes = ProbeSet::load({"fautls"}, file.fd());
  REQUIRE_FALSE(probes);
  CHECK(probes.error().kind == ErrorKind::kUsage);
  CHECK(probes.error().message == "no probe is called fautls; see `iotrace list probes`");
}
