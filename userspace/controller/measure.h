#pragma once
// The measuring loop: every repetition of a plan, and the rows that they add up to.

#include <vector>

#include "analysis/run_record.h"
#include "userspace/controller/file_watch.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/progress.h"
#include "userspace/controller/repetition.h"

namespace iotrace {

struct Measured {
  std::vector<Row> rows;  // in the plan's order, derived numbers not yet filled in
  bool interrupted = false;
};

// A repetition that fails makes its row an error and ends that row; the others go on. An interrupt ends all.
//   watch   the user's file, which must stay the same; null: a scratch file, which is nobody else's
Measured measure(const RunContext& run, const FileWatch* watch, const Plan& plan, Progress& progress);

}
