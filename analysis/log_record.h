#pragma once
// What --stacks and --window log beside the counts. Field names are those of the JSON (log_fields.h).

#include <cstdint>
#include <optional>
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

// One fault on a file, hint, read call, or read of the device.
struct LoggedEvent {
  std::string kind;                // "fault", "hint", "read", "device"
  std::string what;                // "mapped", "waited", "read"; "madvise WILLNEED"; "pread64"; "read"
  std::uint32_t pid = 0, tid = 0;  // who asked for it; 0: not known
  std::string thread;
  std::optional<std::string> file;
  std::optional<std::uint64_t> offset_bytes, bytes;
  std::optional<std::string> error;  // JSON "errno"
  std::uint64_t begin_ns = 0;        // since the window began
  std::uint64_t duration_ns = 0;
};

// Of a window after the attach, by their beginning.
struct EventLog {
  double window_s = 0;
  std::vector<LoggedEvent> list;
  Count dropped = 0;  // events of the window for which there was no room left: later ones than those kept
};

}
