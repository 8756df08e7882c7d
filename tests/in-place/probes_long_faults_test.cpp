// The longest faults, with thread and offset.

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;
constexpr std::size_t kSlowPage = 3001;

// A thread of the target that touches one page when told, and lives on so that its name can be asked for.
struct SlowReader {
  std::atomic<bool> wanted{false};

  void start(const InTarget& here, SharedCount& tid) {
    std::thread([this, here, &tid] {
      ::pthread_setname_np(::pthread_self(), "slow-reader");
      tid->store(static_cast<std::uint64_t>(::gettid()));
      for (;;) {
        while (!wanted.load()) ::usleep(100);
        here.touch(kSlowPage);
        wanted = false;
      }
    }).detach();
    while (tid->load() == 0) ::usleep(100);
  }
};

}

TEST_CASE("the one cold fault among warm ones is told with its thread and offset") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  static SlowReader reader;
  SharedCount tid;
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        for (std::size_t page = 0; page < kSlowPage - 100; ++page) here.touch(page);
        reader.wanted = true;
        while (reader.wanted.load()) sched_yield();
      },
      [&tid](const InTarget& here) {
        ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
        reader.start(here, tid);
      });
  // What preempts a warm fault may make it longer than the cold one: ten of those at once are not believed.
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    file.fill_page_by_page();
    ::posix_fadvise(file.fd(), static_cast<off_t>(kSlowPage * page_size()), static_cast<off_t>(page_size()),
                    POSIX_FADV_DONTNEED);
    ProbeReadings readings = observe(*probes, target);
    const std::vector<LongFault>& longest = *readings.faults->longest;
    CHECK(longest.size() == kLongestFaults);
    CHECK(std::ranges::is_sorted(longest, std::greater(), &LongFault::latency_ns));
    CHECK(longest.front().latency_ns == std::max({readings.faults->mapped->lat_ns.max().value_or(0),
                                                  readings.faults->waited->lat_ns.max().value_or(0),
                                                  readings.faults->read->lat_ns.max().value_or(0),
                                                  readings.faults->other->lat_ns.max().value_or(0)}));
    auto cold = std::ranges::find(longest, "read", &LongFault::kind);
    return readings.faults->read->count == 1 && cold != longest.end() && cold->tid == tid->load() &&
           cold->thread == "slow-reader" && cold->offset_bytes == kSlowPage * page_size();
  }));
}

TEST_CASE("a long list of faults keeps its ten longest whatever their order") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"faults", "page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    for (std::size_t page = 0; page < kPages; page += 7) here.touch(page);
    auto* fresh = static_cast<volatile char*>(::mmap(nullptr, 10007 * page_size(), PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ::madvise(const_cast<char*>(fresh), 10007 * page_size(), MADV_NOHUGEPAGE);
    for (std::size_t page = 0; page < 10007; ++page) fresh[page * page_size()] = 1;
  });
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  const Faults& faults = *readings.faults;
  const std::vector<LongFault>& longest = *faults.longest;
  REQUIRE(longest.size() == kLongestFaults);
  // They fill the highest bins of the distribution of all.
  Histogram all = faults.other->lat_ns;
  for (const auto* kind : {&faults.mapped, &faults.waited, &faults.read}) CHECK(all.merge((*kind)->lat_ns));
  std::vector<unsigned> highest, listed;
  for (auto bin = all.bins().rbegin(); highest.size() < kLongestFaults; ++bin)
    highest.insert(highest.end(), std::min<Count>(bin->second, kLongestFaults - highest.size()), bin->first);
  for (const LongFault& fault : longest) listed.push_back(histogram_bin(fault.latency_ns, kKernelSubBits));
  CHECK(listed == highest);
  CHECK(longest.front().latency_ns == all.max());
  for (const LongFault& fault : longest) CHECK((fault.kind == "other") == !fault.offset_bytes);
}
