#pragma once
// `run --dry-run`: what a run would measure, without touching anything.

#include "analysis/result.h"
#include "userspace/cli/run_settings.h"

namespace iotrace {

// Prints cells, repetitions, bytes, memory and an estimate of the time.
//   errors  those of the run itself, as far as they can be known: names, a file that isn't there
Status dry_run(const RunSettings& settings);

}
