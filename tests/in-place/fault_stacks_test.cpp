// --stacks: a fault that waited stands under the function that touched the page, and nobody else's does.

#include <sys/mman.h>
#include <sys/prctl.h>

#include <numeric>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "bpf/log_contract.h"
#include "tests/in-place/cold_file.h"
#include "tests/in-place/probes_fixture.h"
#include "tests/in-place/target_process.h"
#include "userspace/probes/watch_set.h"

using namespace iotrace;
using namespace iotrace::test;

// Names as the symbol table has them.
extern "C" {
__attribute__((noinline)) void iotrace_test_reads_index(const InTarget& here) {
  for (std::size_t page = 0; page < 101; ++page) here.touch(page * 3);
}
__attribute__((noinline)) void iotrace_test_reads_data(const InTarget& here) {
  for (std::size_t page = 0; page < 53; ++page) here.touch(1000 + page * 3);
}
// The caller of a function without a frame of its own, as write(2)'s is, is not seen.
__attribute__((noinline)) void write_page(int pipe, const std::byte* page) {
  (void)!::write(pipe, page, 16);
}
__attribute__((noinline)) void iotrace_test_reads_call(const InTarget& here) {
  // The kernel faults on its behalf: the buffer that it writes from is the cold mapping.
  int pipe[2];
  if (::pipe(pipe) != 0) return;
  for (std::size_t page = 0; page < 7; ++page)
    write_page(pipe[1], const_cast<const std::byte*>(here.file) + (2000 + page * 3) * page_size());
  ::close(pipe[0]);
  ::close(pipe[1]);
}
}

namespace {

constexpr std::size_t kPages = 4096;

int idle_gate() {
  static const int fd = [] {
    const int made = ::memfd_create("gate", MFD_CLOEXEC);
    return made >= 0 && ::ftruncate(made, static_cast<off_t>(page_size())) == 0 ? made : -1;
  }();
  return fd;
}

void random_access(const InTarget& here) {
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
}

std::unique_ptr<WatchSet> load_watch(bool stacks = true) {
  if (::geteuid() != 0) skip("not root");
  auto loaded = WatchSet::load({}, {.stacks = stacks});
  if (!loaded && loaded.error().kind == ErrorKind::kUnsupported) skip(loaded.error().message);
  INFO((loaded ? std::string() : loaded.error().message));
  REQUIRE(loaded);
  return std::move(*loaded);
}

Count faults_through(const std::vector<FaultStack>& stacks, const std::string& function) {
  Count sum = 0;
  for (const FaultStack& stack : stacks)
    if (std::ranges::find(stack.user, function) != stack.user.end()) sum += stack.faults;
  return sum;
}

StackDrops sum_of(const std::vector<FaultStack>& stacks) {
  StackDrops sum;
  for (const FaultStack& stack : stacks) {
    sum.faults += stack.faults;
    sum.wait_ns += stack.wait_ns;
  }
  return sum;
}

}

TEST_CASE("stacks name the function whose faults waited, with their number and all of their time") {
  auto watch = load_watch();
  ColdFile file(kPages), others(kPages);
  TargetProcess target(
      file, idle_gate(),
      [](const InTarget& here) {
        iotrace_test_reads_index(here);
        iotrace_test_reads_data(here);
        iotrace_test_reads_call(here);
        for (std::size_t page = 0; page < 11; ++page) {  // mapped again from the cache: no wait
          ::madvise(const_cast<std::byte*>(here.file), page_size(), MADV_DONTNEED);
          here.touch(0);
        }
      },
      random_access);
  TargetProcess other(others, idle_gate(), iotrace_test_reads_index, random_access);
  REQUIRE(watch->begin({target.target().tgid}, true));
  other.run();
  target.run();
  watch->stop_counting();
  auto totals = watch->totals();
  REQUIRE(totals);
  CHECK(totals->unavailable.count("stacks.kernel") == 0);
  auto stacks = watch->stacks();
  REQUIRE(stacks);
  CHECK(faults_through(*stacks, "iotrace_test_reads_index") == 101);
  CHECK(faults_through(*stacks, "iotrace_test_reads_data") == 53);
  CHECK(faults_through(*stacks, "iotrace_test_reads_call") == 7);
  const StackDrops sum = sum_of(*stacks);
  CHECK(watch->stack_drops().faults == 0);
  CHECK(sum.faults == 101 + 53 + 7);
  CHECK(sum.faults == totals->faults->read->count + totals->faults->waited->count);
  CHECK(static_cast<double>(sum.wait_ns) / 1e9 == Approx(*totals->time->fault_wait_s).epsilon(1e-9));

  // Frames, the outermost first; and where it slept, down to the scheduler. A fault whose page has come
  // before it would sleep has no such stack.
  const auto slept =
      std::ranges::find_if(*stacks, [](const FaultStack& stack) { return !stack.kernel.empty(); });
  REQUIRE(slept != stacks->end());
  const FaultStack& first = *slept;
  CHECK(first.thread == "in_place_tests");
  auto window = std::ranges::find_if(
      first.user, [](const std::string& frame) { return frame.find("TargetProcess::window") != frame.npos; });
  const auto reader = std::ranges::find_if(
      first.user, [](const std::string& frame) { return frame.starts_with("iotrace_test_reads_"); });
  CHECK(window < reader);
  CHECK(reader != first.user.end());
  CHECK(first.kernel.back() == "__schedule");
  CHECK(std::ranges::find(first.kernel, "filemap_fault") != first.kernel.end());
  CHECK(std::ranges::is_sorted(*stacks, std::ranges::greater(), &FaultStack::wait_ns));
  watch->end();
}

TEST_CASE("stacks keep the names of a target that has ended meanwhile") {
  auto watch = load_watch();
  ColdFile file(kPages);
  {
    TargetProcess target(file, idle_gate(), iotrace_test_reads_data, random_access);
    REQUIRE(watch->begin({target.target().tgid}, true));
    target.run();
    REQUIRE(watch->totals());
  }
  REQUIRE(watch->totals());
  CHECK(faults_through(*watch->stacks(), "iotrace_test_reads_data") == 53);
  watch->end();
}

TEST_CASE("stacks for which there is no room are counted, with their time") {
  auto watch = load_watch();
  constexpr std::size_t kMore = 101;
  ColdFile file(MOST_STACK_WAITS + kMore);
  TargetProcess target(
      file, idle_gate(),
      [](const InTarget& here) {  // each under another name
        for (std::size_t page = 0; page < MOST_STACK_WAITS + kMore; ++page) {
          ::prctl(PR_SET_NAME, fmt::format("t{}", page).c_str());
          here.touch(page);
        }
      },
      random_access);
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  watch->stop_counting();
  auto totals = watch->totals();
  REQUIRE(totals);
  const StackDrops kept = sum_of(*watch->stacks()), dropped = watch->stack_drops();
  CHECK(kept.faults == MOST_STACK_WAITS);
  CHECK(dropped.faults == kMore);
  CHECK(static_cast<double>(kept.wait_ns + dropped.wait_ns) / 1e9 ==
        Approx(*totals->time->fault_wait_s).epsilon(1e-9));
  watch->end();
}

TEST_CASE("without --stacks there are none") {
  auto watch = load_watch(false);
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), iotrace_test_reads_data, random_access);
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  REQUIRE(watch->totals());
  CHECK_FALSE(watch->stacks());
  watch->end();
}

TEST_CASE("a run's stacks begin anew at each attach") {
  ColdFile file(kPages);
  if (::geteuid() != 0) skip("not root");
  auto probes = ProbeSet::load({}, file.fd(), {.stacks = true});
  INFO((probes ? std::string() : probes.error().message));
  REQUIRE(probes);
  TargetProcess target(file, **probes, iotrace_test_reads_index, random_access);
  for (int window = 0; window < 2; ++window) {
    REQUIRE((*probes)->attach(target.target()));
    target.run();
    auto readings = (*probes)->read();
    (*probes)->detach();
    REQUIRE(readings);
    REQUIRE(readings->stacks);
    // The second time the pages are mapped, and nothing waits.
    CHECK(faults_through(*readings->stacks, "iotrace_test_reads_index") == (window == 0 ? 101 : 0));
    CHECK(readings->stacks_dropped->faults == 0);
  }
}
