#pragma once
// When ops come and what goes on between and beside them: --rate and --arrivals, --compute, --mmap-churn,
// --write-pct.

#include "userspace/cli/run_settings.h"

namespace iotrace {

void declare_pace_options(CLI::App& run, RunWords& words);

// The strategies (settings.options.strategies) must have been taken before.
//   errors   usage: a bad word, --arrivals without --rate, --write-pct on a user's file or past the cache
Status take_pace(const RunWords& words, RunSettings& settings);

}
