#pragma once
// Loads probes for a test, or skips it where nobody could.

#include <catch2/catch.hpp>

#include "tests/in-place/cold_file.h"
#include "tests/in-place/target_process.h"
#include "tests/skip.h"
#include "userspace/probes/load_probe_set.h"

namespace iotrace::test {

inline std::unique_ptr<ProbeSet> load_probes(const ColdFile& file, std::vector<std::string> names = {},
                                             HookStates states = {}) {
  if (::geteuid() != 0) skip("not root");
  auto loaded = load_probe_set(names, file.fd(), std::move(states));
  if (!loaded && loaded.error().kind == ErrorKind::kUnsupported) skip(loaded.error().message);
  INFO((loaded ? std::string() : loaded.error().message));
  REQUIRE(loaded);
  return std::move(*loaded);
}

// Runs one window of the target under the probes, and detaches them: a target forked later would inherit the
// links and keep them attached.
inline ProbeReadings observe(ProbeSet& probes, TargetProcess& target) {
  REQUIRE(probes.attach(target.target()));
  target.run();
  auto readings = probes.read();
  probes.detach();
  REQUIRE(readings);
  for (const ProbeStatus& status : readings->probes) {
    INFO(status.name << ": " << status.reason.value_or("") << ", unmatched " << status.unmatched);
    CHECK(status.variant);
    CHECK(status.lost == 0);
  }
  return std::move(*readings);
}

// Hooks without their best way, where this kernel surely has another, for the tests that run by each way.
inline HookStates without_best_variants() {
  HookStates states;
  auto by_tracepoints = [](const Variant& variant) {
    return variant.programs.front().event != HookProgram::Event::kFunction;
  };
  for (HookState& state : states)
    if (const auto& variants = state.hook->variants; variants.size() > 1 && by_tracepoints(variants[1]))
      state.refuse("passed over by a test");
  return states;
}

inline std::size_t calls(const ProbeReadings& readings, std::string_view name,
                         std::optional<std::string> error = std::nullopt) {
  for (const SyscallCount& entry : *readings.syscalls)
    if (entry.name == name && entry.error == error) return entry.calls;
  return 0;
}

}
