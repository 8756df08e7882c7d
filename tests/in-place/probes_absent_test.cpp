// Kernels that lack a tracepoint, such as those of lock: before 5.19, or whose tracepoint has other
// arguments: simulated by hooks that ask for what this kernel does not have.

#include <list>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

bool by_tracepoints(const Hook& hook) {
  for (const Variant& variant : hook.variants)
    for (const HookProgram& program : variant.programs)
      if (program.event == HookProgram::Event::kTracepoint) return true;
  return false;
}

// No probe of a run asks for it by itself.
bool asked_for_apart(const Hook& hook) {
  return hook.id == HookId::kFork || hook.id == HookId::kExit || hook.id == HookId::kSleeps;
}

// The hook as it is, but for its tracepoints.
HookStates without_tracepoints_of(const Hook& hook) {
  static std::list<Hook> made;
  Hook& absent = made.emplace_back(hook);
  for (Variant& variant : absent.variants)
    for (HookProgram& program : variant.programs)
      if (program.event == HookProgram::Event::kTracepoint) program.target = "of_no_kernel";
  HookStates states;
  states[hook.id].hook = &absent;
  return states;
}

bool tells_of(const ProbeReadings& readings, std::string_view reason) {
  for (const auto& [key, why] : readings.unavailable)
    if (why.find(reason) != std::string::npos) return true;
  for (const ProbeStatus& status : readings.probes)
    if (status.reason.value_or("").find(reason) != std::string::npos) return true;
  return false;
}

}

TEST_CASE("a kernel without the tracepoints of one hook: the others count on, and what is missing is told") {
  ColdFile file(256);
  for (const Hook& hook : hooks()) {
    if (!by_tracepoints(hook) || asked_for_apart(hook)) continue;
    INFO(hook.name);
    auto probes = load_probes(file, {}, without_tracepoints_of(hook));
    TargetProcess target(file, *probes, [](const InTarget& here) {
      char byte;
      for (int i = 0; i < 13; ++i) (void)!::pread(here.fd, &byte, 1, 0);
      here.touch(200);
    });
    file.make_cold();
    REQUIRE(probes->attach(target.target()));
    target.run();
    auto readings = probes->read();
    probes->detach();
    REQUIRE(readings);
    CHECK(tells_of(*readings, "this kernel has no tracepoint of_no_kernel"));
    if (hook.id != HookId::kSyscalls) CHECK(calls(*readings, "pread64") == 13);
    if (hook.id == HookId::kSyscalls) CHECK_FALSE(readings->syscalls);
    if (hook.id == HookId::kMmapLock) {
      CHECK_FALSE(readings->mmap_lock);
      CHECK_FALSE(readings->faults->under_mmap_lock);
    } else {
      CHECK(readings->mmap_lock);
    }
    if (hook.id == HookId::kPageCache)
      CHECK_FALSE(readings->page_cache);
    else
      CHECK(*readings->page_cache->added_pages > 0);
  }
}
