#pragma once
// Named sets of options: whole tables of the discussion that this tool comes from, with one word.

#include <optional>
#include <span>
#include <string_view>

#include "analysis/result.h"
#include "userspace/cli/run_settings.h"

namespace iotrace {

struct Preset {
  std::string_view name;
  std::string_view summary;  // one line for `iotrace list presets`
  RunWords words;
  // A second table of the same run: its own patterns, strategies, cases, threads, sizes.
  std::optional<RunWords> second = {};
};

std::span<const Preset> presets();

// Fills in what the user left out; what was named on the command line stays. nullopt: no preset was asked
// for.
//   errors  usage: no such preset, with the nearest
Result<const Preset*> apply_preset(RunWords& words);

// What `second` leaves out is taken from the first table; what the user named holds for both.
RunWords second_table(const Preset& preset, const RunWords& asked, const RunWords& first);

}
