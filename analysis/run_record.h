#pragma once
// The RunRecord: the one value that crosses from measuring to judging (design section 9). Field names are
// those of the JSON, name for name; schema: analysis/record.schema.json. nullopt means "not available", and
// Row::unavailable says why.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/histogram.h"
#include "analysis/result.h"
#include "analysis/statistics.h"

namespace iotrace {

inline constexpr int kSchemaVersion = 1;

using Count = std::uint64_t;

struct Host {
  std::string kernel;      // uname -r
  std::string machine;     // x86_64
  std::string cpu;         // model name
  std::uint32_t cpus = 0;  // online
  std::uint64_t page_size_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t swap_bytes = 0;
  std::optional<bool> per_vma_locks;          // CONFIG_PER_VMA_LOCK, by the kernel's own types
  std::optional<std::string> mglru;           // /sys/kernel/mm/lru_gen/enabled
  std::optional<std::string> thp;             // the chosen word of transparent_hugepage/enabled
  std::optional<std::string> virtualisation;  // "kvm", "none", …
  std::optional<std::string> cgroup;          // "v1", "v2"
};

struct FileFacts {
  std::string path;
  std::uint64_t size_bytes = 0;
  bool scratch = false;                           // made by iotrace, removed at the end
  std::string fs;                                 // ext4
  std::string device;                             // vda1
  std::optional<std::uint64_t> read_ahead_bytes;  // effective: of the file's own device
  std::optional<std::uint64_t> max_sectors_bytes;
  std::optional<std::string> scheduler;
  // Folios by order that the fixed way of filling the cache left, for warm and resident cases: order ->
  // folios.
  std::optional<std::map<std::uint32_t, Count>> folio_orders;
};

// What the user asked for, after defaults.
struct Options {
  std::vector<std::string> strategies, cases, patterns;
  std::vector<std::uint32_t> threads;
  std::vector<std::uint64_t> read_size_bytes;
  std::uint32_t reads_per_op = 16;
  std::uint64_t align_bytes = 1;
  double duration_s = 0;
  double warmup_s = 0;
  std::optional<Count> ops;
  std::uint32_t reps = 0;  // untraced repetitions of each cell
  std::uint32_t traced_reps = 0;
  std::string probes;  // "on", "off", "paired"
  std::string user;    // who the worker runs as: "nobody (65534)"
  std::optional<std::uint64_t> memory_bytes;

  // What the cells are made of beside the lists above; an empty list: the cell's default.
  std::vector<std::string> rates;    // open loop: "500" ops per second, "80%" of the measured capacity
  std::string arrivals = "poisson";  // or "fixed"
  std::vector<std::uint64_t> compute_ns;
  std::vector<double> mmap_churn;  // maps and unmaps per second
  std::vector<double> write_pct;   // percent of reads that are writes instead
  std::optional<std::uint64_t> hot_size_bytes;
  std::vector<double> cold_pct, zipf_theta;
  std::vector<std::uint64_t> stride_bytes;
  std::vector<double> memory_sweep;  // memory limits as shares of the file
  bool ramhog = false;               // take memory away by pinning it, not by a cgroup
};

struct Repetition {
  Count ops = 0;
  double seconds = 0;
  std::optional<double> residency_before_ratio, residency_after_ratio;
  bool drifted = false;
  bool settled = true;  // the rate held still before the window opened, where the case warms up
  // Open loop: ops that were due in the window and had not begun at its end. With `ops` they are all
  // arrivals.
  std::optional<Count> unserved;
  std::optional<Count> writes;      // reads that were writes instead, where the cell asks for some
  std::optional<Count> churn_done;  // maps and unmaps that the churn thread completed, where there is one
};

// One way of measuring a row (untraced or traced): its repetitions and what follows from them.
struct Measurement {
  std::vector<Repetition> reps;
  Estimate ops_per_ms;
  std::optional<double> bw_bytes;  // bytes read per second, from the median
  Histogram lat_ns{kOpSubBits};    // per op, all repetitions together
};

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
  std::string kind;  // what it did: "mapped", "waited", "read", "other"
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

struct LockSide {
  Count acquired = 0;
  Count contended = 0;
  Histogram wait_ns{kKernelSubBits};
  std::optional<Histogram> hold_ns;  // acquired to released
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

// Requests to the device that read the file for the target.
struct BlockIo {
  std::optional<Count> reads;
  std::optional<Count> read_bytes;
  std::optional<Histogram> lat_ns;  // made to completed
  std::optional<Histogram> request_bytes;
  std::optional<Histogram> queue_depth;  // of them in flight when one was added, itself included
  std::optional<Count> unplaced;         // reads of the target's that can't be tied to the file
};

// What the target's threads paid for memory.
struct Reclaim {
  std::optional<Count> direct_stalls;  // times that a thread had to free memory itself
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

// What belongs to a cell beside the row's own keys.
struct Cell {
  std::string pace = "closed";
  std::optional<double> rate;      // open loop: ops per second that arrive
  std::optional<double> rate_pct;  // the same, where it was asked for in percent of the capacity
  std::optional<std::string> arrivals;
  std::uint64_t compute_ns = 0;
  std::uint64_t align_bytes = 1;
  std::optional<std::uint64_t> hot_size_bytes;
  std::optional<double> cold_pct, zipf_theta;
  std::optional<std::uint64_t> stride_bytes;
  double write_pct = 0;
  double mmap_churn = 0;
  std::optional<double> memory_of_file_ratio;  // a step of the memory sweep
  std::optional<std::uint64_t> memory_limit_bytes;
};

// What the strategy's author says an honest row must show; findings compare it with what was seen.
struct Expectation {
  bool hints = false;                       // the strategy gives hints to the kernel
  std::optional<std::string> differs_from;  // strategy that it should differ from when pages are absent
};

// The same reads again, by fio.
struct FioPeer {
  std::string engine;  // "psync"
  double iops = 0;     // fio's reads per second
  double ratio = 0;    // ours / fio's
};

struct Row {
  std::string strategy, case_name /* JSON "case" */, pattern;
  std::uint32_t threads = 1;
  std::uint64_t read_size_bytes = 0;
  std::uint32_t reads_per_op = 0;
  bool control = false;              // the A/A repeat of another row
  std::optional<std::string> error;  // why there are no numbers
  bool drifted = false;
  Expectation expects;
  Cell cell;
  std::optional<Measurement> untraced, traced;
  // The traced repetitions done again, as many operations each, with probes that are dear on this kernel:
  // faults, mmap_lock and time are of these.
  std::optional<Measurement> dear_pass;
  std::optional<Histogram> service_ns, response_ns;
  std::optional<Estimate> observer_cost_ratio;  // traced / untraced throughput
  std::optional<Estimate> dear_cost_ratio;      // that of the dear pass / traced
  std::optional<double> noise_floor_ratio;      // |A/A ratio - 1| of this case and thread count

  // Of the traced repetitions where there are any, else of the untraced ones; see counters_from.
  std::string counters_from;  // "traced" or "untraced"
  Count requested_bytes = 0;
  std::optional<Count> device_bytes;
  std::optional<double> amplification_ratio;
  std::optional<double> ceiling_ratio;  // bytes that the device delivered per second / its ceiling
  std::optional<FioPeer> fio;
  std::optional<Rusage> rusage;

  // Of the traced repetitions only.
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
  std::map<std::string, std::string> unavailable;  // "hints.late_pages" -> reason
  std::vector<ProbeStatus> probes;
};

// What the device delivers past the page cache, with so many reads of one size in flight (O_DIRECT,
// io_uring).
struct CeilingPoint {
  std::uint64_t request_bytes = 0;
  std::uint32_t queue_depth = 0;
  double iops = 0;
  double bw_bytes = 0;  // bytes per second
};

struct Finding {
  std::string id;                   // "hint-rejected"
  std::string severity;             // "fail", "warn", "info"
  std::vector<std::uint32_t> rows;  // indexes into RunRecord::rows
  std::string text;                 // one sentence
  std::map<std::string, double> numbers;
  std::string remedy;  // one sentence, imperative
  std::string source;  // where the rule comes from
};

struct RunRecord {
  int schema_version = kSchemaVersion;
  std::string iotrace;  // version
  std::string started;  // ISO 8601, UTC
  std::string command = "run";
  bool partial = false;
  std::uint64_t seed = 0;
  Host host;
  FileFacts file;
  Options options;
  std::optional<std::vector<CeilingPoint>> ceiling;
  // Throughput of a second pass over the same blocks past this machine's cache / that of the first one.
  std::optional<double> second_pass_ratio;
  std::vector<Row> rows;
  std::vector<Finding> findings;
};

}
