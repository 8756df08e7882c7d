// The gate, attaching and resetting; and that every way of hooking an event works where the kernel has it.

#include <fcntl.h>

#include <cstring>

#include "tests/in-place/probes_fixture.h"
#include "userspace/mapped_region.h"
#include "userspace/probes/load_hooks.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 256;

// One of everything that is counted. Leaves no page mapped, so that the file can be made cold again.
void work(const InTarget& here) {
  static char buffer[4096];
  (void)!::pread(here.fd, buffer, sizeof(buffer), 0);
  ::madvise(const_cast<std::byte*>(here.file) + 1, page_size(), MADV_WILLNEED);
  here.touch(kPages - 1);
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
}

void check_zero(const ProbeReadings& readings) {
  CHECK(readings.syscalls->empty());
  CHECK(readings.madvise->empty());
  CHECK(*readings.faults->minor == 0);
  CHECK(*readings.faults->major == 0);
  for (auto kind : {&Faults::mapped, &Faults::waited, &Faults::read, &Faults::other})
    CHECK((*readings.faults.*kind)->count == 0);
  CHECK(*readings.page_cache->added_pages == 0);
  CHECK(*readings.page_cache->evicted_pages == 0);
  CHECK(readings.mmap_lock->read->acquired == 0);
  CHECK(readings.mmap_lock->write->acquired == 0);
}

void check_one_of_each(const ProbeReadings& readings) {
  CHECK(calls(readings, "pread64") == 1);
  CHECK(calls(readings, "madvise", "EINVAL") == 1);
  CHECK(*readings.page_cache->by.read == 1);
  CHECK(readings.faults->mapped->count + readings.faults->waited->count + readings.faults->read->count == 1);
}

}

TEST_CASE("nothing counts while the gate is closed, before attach, or after it again") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(file, probes->gate_fd(), work);

  file.make_cold();
  target.run();  // open gate, nothing attached
  auto before = probes->read();
  REQUIRE(before);
  check_zero(*before);

  file.make_cold();
  REQUIRE(probes->attach(target.target()));
  target.run(false);
  auto closed = probes->read();
  REQUIRE(closed);
  check_zero(*closed);

  file.make_cold();
  target.run();
  auto open = probes->read();
  REQUIRE(open);
  check_one_of_each(*open);

  REQUIRE(probes->attach(target.target()));
  auto reset = probes->read();
  REQUIRE(reset);
  check_zero(*reset);

  probes->detach();
  target.run();
  auto detached = probes->read();
  REQUIRE(detached);
  check_zero(*detached);
}

TEST_CASE("one set follows one target after another") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  for (int round = 0; round < 3; ++round) {
    TargetProcess target(file, probes->gate_fd(), work);
    file.make_cold();
    check_one_of_each(observe(*probes, target));
  }
}

TEST_CASE("the readings of two repetitions add up") {
  ColdFile file(kPages);
  auto probes = load_probes(file);
  TargetProcess target(file, probes->gate_fd(), work);
  ProbeReadings sum;
  for (int repetition = 0; repetition < 2; ++repetition) {
    file.make_cold();
    REQUIRE(merge(sum, observe(*probes, target)));
  }
  CHECK(calls(sum, "pread64") == 2);
  CHECK(calls(sum, "madvise", "EINVAL") == 2);
  CHECK(*sum.page_cache->by.read == 2);
  CHECK(sum.madvise->front().misaligned == 2);
  CHECK(sum.probes.size() == probe_list().size());
  for (const SyscallCount& entry : *sum.syscalls)
    if (entry.name == "pread64") CHECK(entry.lat_ns->count() == 2);
}

TEST_CASE("each variant that this kernel's types allow loads and attaches") {
  ColdFile file(1);
  load_probes(file);  // or skips
  auto kernel = KernelBtf::load();
  REQUIRE(kernel);
  for (const Hook& hook : hooks())
    for (std::size_t index = 0; index < hook.variants.size(); ++index) {
      HookStates states;
      states[hook.id].wanted = true;
      for (std::size_t passed = 0; passed < index; ++passed) states[hook.id].refuse("passed over by a test");
      auto loaded = load_hooks(std::move(states), *kernel, {.file_fd = file.fd()});
      REQUIRE(loaded);
      const HookState& state = loaded->states[hook.id];
      for (std::size_t refused = index; refused < state.refusals.size(); ++refused) {
        INFO(hook.name << ", " << hook.variants[refused].name << ": " << state.refusals[refused]);
        // Only the kernel's types may speak against one.
        CHECK((state.refusals[refused].find("arguments where") != std::string::npos ||
               state.refusals[refused].find("this kernel has no ") != std::string::npos ||
               state.refusals[refused].find("no program onto its functions") != std::string::npos));
      }
    }
}

// This process, started over by the test below: without privileges, with the gate on descriptor 9. Before
// main(), as Catch2 would list a test case for it among the others.
constexpr const char* kOpenGate = "IOTRACE_TEST_OPEN_GATE";

__attribute__((constructor)) void open_gate_if_told() {
  if (!::getenv(kOpenGate)) return;
  if (::geteuid() != 65534) ::_exit(4);
  void* page = ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, 9, 0);
  if (page == MAP_FAILED) ::_exit(5);
  static_cast<gate*>(page)->open = 1;
  ::_exit(0);
}

TEST_CASE("a process without privileges can open the gate that it was handed over an exec") {
  ColdFile file(1);
  auto probes = load_probes(file);
  auto page = MappedRegion::map(page_size(), PROT_READ, MAP_SHARED, probes->gate_fd(), "map the gate");
  REQUIRE(page);
  REQUIRE(probes->attach({.tgid = ::getpid()}));
  const volatile auto& opened = reinterpret_cast<const gate*>(page->data())->open;
  REQUIRE(opened == 0);

  UniqueFd self(::open("/proc/self/exe", O_RDONLY));
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(probes->gate_fd(), 9);
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    std::string told = std::string(kOpenGate) + "=1";
    char name[] = "in_place_tests";
    char* arguments[] = {name, nullptr};
    char* environment[] = {told.data(), nullptr};
    ::fexecve(self.get(), arguments, environment);
    ::_exit(3);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(opened == 1);
  probes->detach();
  CHECK(opened == 0);
}
