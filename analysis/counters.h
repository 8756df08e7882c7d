#pragma once
// The probes' groups of numbers, as a row of `run` and a file, thread or sum of `attach` have them. Field
// names are those of the JSON, name for name (counter_fields.h). nullopt means "not available", and
// `unavailable` beside the group says why.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/histogram.h"

namespace iotrace {

using Count = std::uint64_t;

struct Rusage {
  Count major_faults = 0, minor_faults = 0;
  double user_s = 0, system_s = 0;
  Count ctx_voluntary = 0, ctx_involuntary = 0;
};

// Where the threads' time went, in thread-seconds, over the traced repetitions. Each moment stands in one
// place: waits inside a fault or a call are taken off it. `running` is the rest: on a processor, ready for
// one, or waiting where no probe looks.
struct TimeSplit {
  std::optional<double> running_s, fault_wait_s, read_wait_s, lock_wait_s;
  std::optional<double> idle_s;  // open loop: waiting for the next arrival
};

struct SyscallCount {
  std::string name;                  // "pread64"
  std::optional<std::string> error;  // JSON "errno": "EINVAL"; null for success
  Count calls = 0;
  std::optional<Histogram> lat_ns;  // of the call, whatever it returned; on the entry for success only
};

struct MadviseCount {
  std::string advice;                // "WILLNEED"
  std::optional<std::string> error;  // JSON "errno"
  Count calls = 0;
  Count misaligned = 0;  // start not a multiple of the page size
  Count requested_bytes = 0;
};

// A hint's report card. Counted in pages but for issued, rejected and suppressed, which are calls.
struct Hints {
  std::optional<Count> issued, rejected, suppressed;
  std::optional<Count> in_time_pages, late_pages, needless_pages, useless_pages, truncated_pages;
  // Of the suppressed ones: pages that were absent, as they entered the cache afterwards.
  std::optional<Count> suppressed_absent_pages;
};

struct FaultClass {
  Count count = 0;
  Histogram lat_ns{kKernelSubBits};
};

struct LongFault {
  std::uint64_t latency_ns = 0;
  std::optional<std::uint64_t> offset_bytes;  // in the file; null: outside its mapping
  std::uint32_t tid = 0;
  std::string thread;  // its name
  std::string kind;    // what it did: "mapped", "waited", "read", "other"
};

struct Faults {
  // By what happened to a page of the file; `other` are faults outside the file's mapping.
  std::optional<FaultClass> mapped, waited, read, other;
  std::optional<Count> minor, major;  // as the kernel accounts them; not comparable across kernels
  std::optional<Count> retried;       // passes of completed faults beside the first
  // Pages that faults mapped, neighbours included, and the sizes in pages of the windows around a fault in
  // which the kernel looked for cached neighbours.
  std::optional<Count> mapped_pages;
  std::optional<Histogram> around_pages;
  std::optional<Count> under_vma_lock, under_mmap_lock;  // faults on the file's mapping, by the held rule
  // Threads in faults that wait, at once: averaged over the window, and the most that were seen.
  std::optional<double> blocked_threads_avg;
  std::optional<Count> blocked_threads_max;
  std::optional<std::vector<LongFault>> longest;  // longest first
};

// The page ledger, in pages (never folios).
struct PageCacheBy {
  std::optional<Count> fault, readahead, hint, read, other;
};
struct PageCache {
  std::optional<Count> added_pages;
  PageCacheBy by;
  // Of the pages added in the window: used before they left (or the window's end), or not. Their sum is
  // added_pages, but for a file larger than the ledger.
  std::optional<Count> used_pages, wasted_pages;
  std::optional<Count> evicted_pages, refault_pages;
  PageCacheBy wasted_by;  // wasted_pages, by who brought them
  // Of pages that entered and left in the window: from the one to the other, to a tick of the kernel's clock.
  std::optional<Histogram> evicted_age_ns;
};

// Windows that the kernel chose to read ahead.
struct Readahead {
  std::optional<Count> sync;   // started at a missing page
  std::optional<Count> async;  // started at the marked page of the window before
  std::optional<Histogram> window_pages;
  std::optional<std::map<std::uint32_t, Count>> orders;  // order of the folios -> windows
  std::optional<Count> mmap_miss_max;  // the largest count of misses that the kernel kept for a mapping
};

// By the threads that read. A churn thread (`--mmap-churn`) is in hold_ns alone, as others wait for it.
struct LockSide {
  Count acquired = 0;
  Count contended = 0;
  Histogram wait_ns{kKernelSubBits};
  std::optional<Histogram> hold_ns;  // acquired to released, of all threads
  std::optional<Count> slow_path;    // the kernel's own slow path of the lock
};
struct LockHolder {
  std::string thread;
  std::string syscall;  // "mmap", "page fault"
  Count times = 0;      // contended acquisitions of others while it held the lock
};
struct MmapLock {
  std::optional<LockSide> read, write;
  std::optional<std::vector<LockHolder>> holders;
};

// Requests to the device that read the file, whoever asked for it.
struct BlockIo {
  std::optional<Count> reads;
  std::optional<Count> read_bytes;
  std::optional<Histogram> lat_ns;  // made to completed
  std::optional<Histogram> request_bytes;
  std::optional<Histogram> queue_depth;  // of them in flight when one was added, itself included
  std::optional<Count> unplaced;         // direct reads of the target's that can't be tied to any file
};

// What the target's threads paid for memory.
struct Reclaim {
  std::optional<Count> direct_stalls;  // times that a thread had to free memory itself
  std::optional<Count> cgroup_stalls;  // of these, as a memory cgroup was at its limit
  std::optional<Histogram> stall_ns;
  std::optional<Count> reclaimed_pages;  // by these
  std::optional<Count> tlb_shootdowns;   // flushes of other processors' entries that its threads asked for
  std::optional<Count> swap_in_pages;
};

struct ProbeStatus {
  std::string name;                    // "faults"
  std::optional<std::string> variant;  // "tp_btf"; nullopt: not attached
  std::optional<std::string> reason;   // why not, or why not a better variant
  Count lost = 0;                      // events that could not be counted where they belong
  Count unmatched = 0;  // ends without their start: under way when the window opened, or answered by seccomp
};

}
