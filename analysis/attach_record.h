#pragma once
// What `attach` saw of processes that iotrace didn't start: the members of the RunRecord that stand in place
// of rows. Field names are those of the JSON (attach_fields.h). nullopt means "not available", and
// `unavailable` of the same struct says why.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/counters.h"
#include "analysis/log_record.h"

namespace iotrace {

struct WatchedProcess {
  std::uint32_t pid = 0;
  std::string name;                  // comm
  std::optional<std::string> ended;  // "exited", "replaced by exec"; null: still there at the end
};

// Whom it watched, for how long, and what that cost.
struct AttachTarget {
  std::string asked;  // "-p 4711", "--comm java", "--cgroup /lucene"
  std::vector<WatchedProcess> processes;
  double seconds = 0;  // watched
  // Processor time of all the BPF programs / seconds, of one processor, in samples of so many seconds
  // together.
  std::optional<double> observer_cpu_ratio, observer_timed_s;
  std::vector<std::string> notes;  // what the reader should know: a probe switched off, an exec, …
  // Beyond the bound of the tables: counted in `totals`, not by file or thread.
  Count files_left_out = 0, threads_left_out = 0;
  bool expect_hints = false;  // the user says that the targets hint: none is a finding
};

struct AdviceInForce {
  std::string advice;  // "NORMAL", "RANDOM", "SEQUENTIAL"
  std::uint64_t bytes = 0;
};

struct FileReads {
  Count calls = 0;
  std::uint64_t bytes = 0;
  Histogram lat_ns{kFileSubBits};
};

// Of two faults or reads of one thread on a file, one after the other: the second began where the first ended
// or at most a read-ahead window behind it, or elsewhere.
struct AccessOrder {
  Count in_order = 0, out_of_order = 0;
};

struct AttachedFile {
  std::string path;       // as the target sees it
  std::string extension;  // ".fdt"; "" without one
  bool deleted = false;
  std::string device;  // "254:0"
  std::uint64_t inode = 0;
  std::optional<std::uint64_t> size_bytes, mapped_bytes, resident_bytes;
  std::vector<AdviceInForce> advice;  // of its mappings; empty: it is not mapped

  std::optional<Faults> faults;
  std::optional<PageCache> page_cache;
  // Of page_cache.wasted_pages, what can be said: pages that nobody touched for certain, and pages that
  // nobody is known to have touched. A page that the kernel mapped beside another's fault may have been used
  // unseen.
  std::optional<Count> wasted_least_pages, wasted_most_pages;
  std::optional<Hints> hints;
  std::optional<std::map<std::string, Count>> hint_errors;  // of hints.rejected, by errno
  std::optional<BlockIo> block_io;
  std::optional<FileReads> reads;
  std::optional<AccessOrder> order;
  std::map<std::string, std::string> unavailable;
};

struct AttachedThread {
  std::uint32_t pid = 0, tid = 0;
  std::string name;
  double seconds = 0;           // of the watch that it was there, at least
  std::optional<Count> faults;  // that waited or read
  std::optional<double> fault_wait_s, read_wait_s, mmap_lock_wait_s, futex_wait_s;
};

// The probes' groups of all targets together, as in a row.
struct Totals {
  std::optional<TimeSplit> time;
  std::optional<std::vector<SyscallCount>> syscalls;
  std::optional<std::vector<MadviseCount>> madvise;
  std::optional<Hints> hints;
  std::optional<Faults> faults;
  std::optional<PageCache> page_cache;
  std::optional<Readahead> readahead;
  std::optional<MmapLock> mmap_lock;
  std::optional<BlockIo> block_io;
  std::optional<Reclaim> reclaim;
  std::map<std::string, std::string> unavailable;
  std::vector<ProbeStatus> probes;
  // With --stacks, most waiting first.
  std::optional<std::vector<FaultStack>> stacks;
  std::optional<StackDrops> stacks_dropped;
  // With --window: events that began in its first seconds.
  std::optional<double> events_window_s;
  std::optional<std::vector<LoggedEvent>> events;
  std::optional<Count> events_dropped;
};

// What one line of the live view says: counts of an interval.
struct Interval {
  double begin_s = 0, seconds = 0;  // since the watch began
  std::optional<Count> faults, waiting_faults, added_pages, evicted_pages, refault_pages;
  std::optional<Count> hints, hints_rejected, reads, device_read_bytes;
  std::optional<double> fault_wait_s, read_wait_s, lock_wait_s;
};

}
