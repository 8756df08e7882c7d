#pragma once
// How much memory the reads may use, as the command line says it.

#include <cstdint>
#include <vector>

#include "userspace/cli/run_settings.h"
#include "userspace/controller/plan.h"

namespace iotrace {

void declare_memory_options(CLI::App& run, RunWords& words);

// --memory, --memory-sweep and --ramhog. A sweep brings its own case.
//   errors  usage: the option, the word, what is allowed
Status take_memory(const RunWords& words, RunSettings& settings);

// Memory limits from `from` down to `to`, as shares of the file: both ends, and the usual steps between them,
// which lie closest around 100 %, where a cliff is to be expected.
//   to, from  to < from
std::vector<double> memory_steps(double from, double to);

// What can only be said once the file and the machine are known: --memory contradicts a case, or leaves the
// host too little.
Status check_memory(const RunSettings& settings, const Plan& plan, std::uint64_t file_bytes);

}
