#pragma once
// The probes as attach uses them: many targets, any files. The same programs and counters as ProbeSet's, with
// tables by file and thread beside them (bpf/attach_contract.h).
//
// Needs what may_attach() asks for (privilege.h). Thread-compatible: one thread uses it at a time.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "bpf/attach_contract.h"
#include "userspace/attach/file_catalog.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

// What was counted of one file.
struct WatchedFile {
  std::uint64_t mapping = 0;
  file_stats counted{};
  std::vector<LongFault> longest;  // of the longest of all files
  // Lives that had not ended when this was read, by who brought the page.
  Count touched[PAGE_SOURCE_SLOTS] = {}, around[PAGE_SOURCE_SLOTS] = {}, untouched[PAGE_SOURCE_SLOTS] = {};
};

struct WatchedThread {
  std::uint32_t tid = 0;
  thread_waits counted{};
};

class WatchSet {
public:
  // About 150 ms.
  //   names    subset of probe_list(), empty: all
  //   errors   usage: unknown name; unsupported: no privilege, no BTF
  static Result<std::unique_ptr<WatchSet>> load(const std::vector<std::string>& names, const Logs& logs = {});
  virtual ~WatchSet() = default;

  // Attaches the probes and opens the gate. Targets may come and go at any time.
  //   follow  children that a target forks become targets
  virtual Status begin(const std::vector<pid_t>& targets, bool follow) = 0;
  // One that ends is forgotten by the kernel's side itself, before another process can get its number.
  virtual Status add_target(pid_t pid) = 0;
  // Nothing counts from now on: what is read afterwards is of one moment.
  virtual void stop_counting() = 0;
  // And detaches.
  virtual void end() = 0;

  // Children that were followed into and have not ended.
  virtual std::vector<pid_t> children() = 0;

  // Sums over all targets, files and threads since begin().
  virtual Result<ProbeReadings> totals() = 0;
  virtual Result<std::vector<WatchedFile>> files() = 0;
  virtual Result<std::vector<WatchedThread>> threads() = 0;
  virtual attach_losses losses() = 0;
  // Of faults that waited, since begin(); nullopt: not asked for. Each call of totals() looks at the targets'
  // mappings for their names.
  virtual std::optional<std::vector<FaultStack>> stacks() = 0;
  virtual StackDrops stack_drops() = 0;
  // Single events, which are taken by this; nullopt: not asked for. To be called once, at the end.
  virtual Result<std::optional<EventLog>> events(const FileCatalog& catalog) = 0;
  // Files (by `mapping`) and threads that found no room in the tables.
  virtual std::set<std::uint64_t> left_out() = 0;

  // Lists the targets' files by the kernel's iterators.
  //   errors   unsupported: the iterator is refused
  virtual Status walk(FileCatalog& catalog) = 0;
  // Else their paths are read from /proc/PID/maps.
  virtual bool asks_for_paths() const = 0;

  // Nanoseconds that each probe's programs have run, while this was measured: between start and stop.
  struct Cost {
    std::string probe;
    std::uint64_t ns = 0;
    Count runs = 0;
  };
  virtual Status start_measuring_cost() = 0;
  virtual std::vector<Cost> stop_measuring_cost() = 0;

  // Detaches one probe for good: its groups are unavailable from now on, for this reason.
  virtual void give_up(const std::string& probe, const std::string& reason) = 0;
};

}
