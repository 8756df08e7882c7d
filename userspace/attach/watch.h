#pragma once
// One watch of `attach`: from finding the targets to the record. The target is never stopped, traced by
// ptrace or written to.

#include <functional>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "analysis/run_record.h"
#include "userspace/attach/targets.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

struct WatchRequest {
  TargetRequest targets;
  bool follow = true;   // children of the targets, too
  double seconds = 10;  // 0: until interrupted or until all targets have ended
  double interval_s = 1;
  double max_overhead_ratio = 0.05;  // of one processor, for one probe's programs
  bool expect_hints = false;
  std::vector<std::string> probes;  // empty: all
  Logs logs;
};

// Called at the end of each interval with all that was seen so far.
using OnInterval = std::function<Status(const RunRecord& so_far, const Interval& last)>;

// Returns when the time is over, at an interrupt, or when the last target has ended: with what was seen.
//   errors  usage: no such target; unsupported: a capability is missing; or what `on_interval` returned
Result<RunRecord> watch(const WatchRequest& request, const OnInterval& on_interval);

}
