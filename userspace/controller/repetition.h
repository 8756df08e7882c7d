#pragma once
// One repetition: a fresh worker, a proven state, one measured window.

#include <cstdint>
#include <optional>

#include "analysis/histogram.h"
#include "analysis/run_record.h"
#include "userspace/controller/plan.h"
#include "userspace/controller/prepare.h"
#include "userspace/controller/worker_process.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

// What all repetitions of a run have in common.
struct RunContext {
  const Options& options;
  std::uint64_t seed = 0;
  std::string file_path;  // empty: the scratch file, by file_fd
  int file_fd = -1;
  std::uint64_t file_size_bytes = 0;
  WorkerUser user;
  Guardian* guardian = nullptr;
  ProbeSet* probes = nullptr;  // null: nothing is traced
  CachePreparer* cache = nullptr;
  std::optional<std::string> fio;  // path of the program that measures each row again
};

struct RepetitionResult {
  Repetition repetition;
  double thread_seconds = 0;  // sum over the threads, each from the window's start to its own last op
  double idle_seconds = 0;    // of them: in an open loop, waiting for the next arrival
  Histogram lat_ns{kOpSubBits};
  Histogram response_ns{kOpSubBits};  // open loop only
  std::uint64_t requested_bytes = 0;
  std::uint64_t checksum = 0;          // sum over all threads; equal for equal offsets
  std::uint64_t suppressed_hints = 0;  // wanted, and withheld by the strategy's own rule
  std::optional<std::uint64_t> device_bytes;
  Rusage rusage;
  std::optional<ProbeReadings> readings;  // traced only
};

//   cgroup   the worker's memory cgroup, or null
//   errors   what kept this repetition from being an honest one; no number of it is to be used
Result<RepetitionResult> run_repetition(const RunContext& run, const PlannedRow& row,
                                        const PlannedRepetition& planned, const MemoryCgroup* cgroup);

}
