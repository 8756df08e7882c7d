#pragma once
// The RunRecord: the one value that crosses from measuring to judging (design section 9). Field names are
// those of the JSON, name for name; schema: analysis/record.schema.json. nullopt means "not available", and
// Row::unavailable says why.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attach_record.h"
#include "analysis/counters.h"
#include "analysis/histogram.h"
#include "analysis/result.h"
#include "analysis/statistics.h"

namespace iotrace {

inline constexpr int kSchemaVersion = 1;

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
  std::optional<std::string> virtualisation;  // "kvm", "none", …; "qemu": emulated (TCG)
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
  // With --stacks, most waiting first.
  std::optional<std::vector<FaultStack>> stacks;
  std::optional<StackDrops> stacks_dropped;
  // With --window: events that began in its first seconds, of the first traced repetition.
  std::optional<double> events_window_s;
  std::optional<std::vector<LoggedEvent>> events;
  std::optional<Count> events_dropped;
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
  std::vector<std::uint32_t> rows;  // indexes into RunRecord::rows; of attach: into RunRecord::files
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
  // Of `attach`, in place of rows; there `file` and `options` are empty.
  std::optional<AttachTarget> target;
  std::optional<Totals> totals;
  std::vector<AttachedFile> files;      // most waiting first
  std::vector<AttachedThread> threads;  // most waiting first
  std::vector<Interval> intervals;
  std::vector<Finding> findings;
  // Of a record that another version wrote: what this one has no field for, JSON pointer -> JSON text. Written
  // back where it stood.
  std::map<std::string, std::string> unknown;
};

}
