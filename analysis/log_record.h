#pragma once
// What --stacks and --window log beside the counts. Field names are those of the JSON (log_fields.h).

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/counters.h"

namespace iotrace {

// Faults that waited or read: one name of threads, one way to get there.
struct FaultStack {
  std::string thread;
  std::vector<std::string> user;    // frames, outermost first, down to the access that faulted
  std::vector<std::string> kernel;  // down to where the thread slept first; empty: it did not
  Count faults = 0;
  std::uint64_t wait_ns = 0;
};

// Of the same faults, those whose stack found no room.
struct StackDrops {
  Count faults = 0;
  std::uint64_t wait_ns = 0;
};

}
