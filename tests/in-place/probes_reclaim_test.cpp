// What the target's threads pay for memory: reclaim in their own time, TLB shootdowns, pages back from swap.

#include <sys/stat.h>
#include <sys/swap.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <sstream>
#include <thread>

#include "tests/in-place/probes_fixture.h"
#include "userspace/host/text_file.h"
#include "userspace/memory/cgroup.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 16384;

MemoryCgroup group_of(std::size_t bytes) {
  if (auto hierarchy = memory_cgroup_hierarchy(); !hierarchy) skip(hierarchy.error().message);
  auto group = MemoryCgroup::make(bytes);
  if (!group) skip(group.error().message);
  return std::move(*group);
}

void read_all(const InTarget& here) {
  static char buffer[65536];
  ::lseek(here.fd, 0, SEEK_SET);
  while (::read(here.fd, buffer, sizeof(buffer)) > 0) {
  }
}

}

TEST_CASE("a thread that passes its cgroup's limit frees the pages itself") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"reclaim", "page_cache"});
  MemoryCgroup group = group_of(file.bytes() / 2);
  TargetProcess target(file, probes->gate_fd(), read_all);
  REQUIRE(group.add(target.target().tgid));
  file.make_cold();
  ProbeReadings readings = observe(*probes, target);
  const Reclaim& reclaim = *readings.reclaim;
  CHECK(*reclaim.direct_stalls > 0);
  CHECK(reclaim.cgroup_stalls == reclaim.direct_stalls);  // the machine has memory
  CHECK(reclaim.stall_ns->count() == *reclaim.direct_stalls);
  CHECK(reclaim.stall_ns->min() > 0);
  // Half the pages had to go again, and pages of the file are nearly all that the group has.
  CHECK(*readings.page_cache->added_pages >= kPages);
  CHECK(*reclaim.reclaimed_pages >= kPages * 7 / 16);
  CHECK(*reclaim.reclaimed_pages <= *readings.page_cache->evicted_pages + 1024);
}

TEST_CASE("with memory for all nobody frees any, and another process that must is nobody") {
  ColdFile file(1024), large(kPages);
  auto probes = load_probes(file, {"reclaim"});
  MemoryCgroup group = group_of(large.bytes() / 2);
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    read_all(here);
    here.await_signal(1);
  });
  TargetProcess greedy(large, probes->gate_fd(), read_all);
  REQUIRE(group.add(greedy.target().tgid));
  file.make_cold();
  large.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  greedy.begin(false);
  greedy.finish();
  target.signal(1);
  target.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  CHECK(readings->reclaim->direct_stalls == 0);
  CHECK(readings->reclaim->cgroup_stalls == 0);
  CHECK(readings->reclaim->stall_ns->count() == 0);
  CHECK(readings->reclaim->reclaimed_pages == 0);
  CHECK(readings->reclaim->swap_in_pages == 0);
}

namespace {

// Gives a page back 23 times.
void give_back(const InTarget&) {
  static auto* page = static_cast<volatile char*>(
      ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 23; ++i) {
    page[0] = 1;
    ::madvise(const_cast<char*>(page), page_size(), MADV_DONTNEED);
  }
}

void run_on(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

// On another CPU than the first, until the work is done.
void give_back_beside_another_thread(const InTarget& here) {
  std::atomic<int> state{0};
  std::thread other([&] {
    run_on(1);
    state = 1;
    while (state.load() == 1) {
    }
  });
  run_on(0);
  while (state.load() == 0) {
  }
  ::usleep(1000);
  give_back(here);
  state = 2;
  other.join();
}

Count shootdowns(ProbeSet& probes, TargetProcess& target) {
  ProbeReadings readings = observe(probes, target);
  if (!readings.reclaim->tlb_shootdowns) skip(readings.unavailable["reclaim.tlb_shootdowns"]);
  return *readings.reclaim->tlb_shootdowns;
}

}

TEST_CASE(
    "23 pages given back beside a thread on another CPU are 23 shootdowns, another process's are nobody's") {
  if (std::thread::hardware_concurrency() < 2) skip("one CPU");
  ColdFile file(64);
  auto probes = load_probes(file, {"reclaim"});
  // The other thread is not on its CPU at times, when the machine is busy: then there is nobody to interrupt.
  TargetProcess target(file, probes->gate_fd(), give_back_beside_another_thread);
  Count most = 0;
  for (int attempt = 0; attempt < 20 && most < 23; ++attempt)
    most = std::max(most, shootdowns(*probes, target));
  CHECK(most >= 23);
  CHECK(most < 2 * 23);  // making and joining the thread unmaps too

  TargetProcess idle(file, probes->gate_fd(), [](const InTarget& here) { here.await_signal(1); });
  REQUIRE(probes->attach(idle.target()));
  idle.begin();
  idle.await_open();
  target.begin(false);
  target.finish();
  idle.signal(1);
  idle.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  CHECK(readings->reclaim->tlb_shootdowns == 0);
}

namespace {

// A swap file of this test's own, while it lives.
class SwapFile {
public:
  explicit SwapFile(std::size_t pages) : file_(pages) {
    // The header as mkswap(8) writes it: version 1, the last page, no bad ones.
    std::vector<char> header(page_size());
    const auto last = static_cast<std::uint32_t>(pages - 1);
    const std::uint32_t version = 1;
    std::memcpy(&header[1024], &version, 4);
    std::memcpy(&header[1028], &last, 4);
    std::memcpy(&header[page_size() - 10], "SWAPSPACE2", 10);
    bool written =
        ::pwrite(file_.fd(), header.data(), header.size(), 0) == static_cast<ssize_t>(header.size());
    ::fchmod(file_.fd(), 0600);
    ::fsync(file_.fd());
    on_ = written && ::swapon(file_.path().c_str(), 0) == 0;
    error_ = errno;
  }
  ~SwapFile() {
    if (on_) ::swapoff(file_.path().c_str());
  }
  SwapFile(const SwapFile&) = delete;
  SwapFile& operator=(const SwapFile&) = delete;
  void need() const {
    if (!on_) skip("swapon: " + errno_name(error_));
  }

private:
  ColdFile file_;
  bool on_ = false;
  int error_ = 0;
};

// Pages that the whole machine has read from swap.
Count machine_swap_ins() {
  std::istringstream lines(read_text("/proc/vmstat").value_or(""));
  std::string name;
  for (Count number; lines >> name >> number;)
    if (name == "pswpin") return number;
  return 0;
}

// Takes from the group what memory it has: pages of files are forgotten, others go to swap.
void squeeze(const MemoryCgroup& group) {
  const bool v2 = group.version() == CgroupVersion::kV2;
  const std::string name = group.path() + (v2 ? "/memory.reclaim" : "/memory.force_empty");
  UniqueFd file(::open(name.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) skip(name + ": " + errno_name(errno));
  for (int again = 0; again < 3; ++again) (void)!::write(file.get(), "4194304", 7);
}

constexpr std::size_t kSwapped = 509;

}

TEST_CASE("pages read back from swap are counted, to the machine's own count") {
  ColdFile file(64);
  auto probes = load_probes(file, {"reclaim"});
  MemoryCgroup group = group_of(32 << 20);
  SwapFile swap(4096);
  swap.need();
  SharedCount filled;
  TargetProcess target(file, probes->gate_fd(), [&](const InTarget& here) {
    static auto* memory = static_cast<char*>(
        ::mmap(nullptr, kSwapped * page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::minstd_rand random;
    for (std::size_t i = 0; i < kSwapped * page_size(); ++i) memory[i] = static_cast<char>(random() >> 8);
    filled->fetch_add(1);
    while (here.signal->load() == 0) ::usleep(1000);
    for (std::size_t page = 0; page < kSwapped; ++page)
      [[maybe_unused]] volatile char touched = memory[page * page_size()];
  });
  REQUIRE(group.add(target.target().tgid));
  CHECK(exact_once_in_5([&] {
    const std::uint64_t before = filled->load();
    REQUIRE(probes->attach(target.target()));
    target.begin();
    while (filled->load() == before) ::usleep(1000);
    squeeze(group);
    const Count swapped_before = machine_swap_ins();
    target.signal(1);
    target.finish();
    const Count swapped = machine_swap_ins() - swapped_before;
    auto readings = probes->read();
    probes->detach();
    REQUIRE(readings);
    UNSCOPED_INFO("machine " << swapped << ", seen " << *readings->reclaim->swap_in_pages);
    return swapped > kSwapped / 2 && *readings->reclaim->swap_in_pages == swapped;
  }));
}
