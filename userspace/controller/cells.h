#pragma once
// The cells of a run: every combination of what the options list beside strategy, case, pattern, read size
// and threads.

#include <vector>

#include "analysis/run_record.h"
#include "userspace/patterns/pattern.h"

namespace iotrace {

// At least one. Lists that mean nothing to the pattern (cold_pct for random) leave no mark.
std::vector<Cell> cells(const Options& options, const Pattern& pattern);

}
