#pragma once
// The probes of one run: chosen, loaded once, then pointed at a worker and switched on for each traced
// repetition. All counting happens in the kernel; read() sums it up.
//
// Needs CAP_BPF and CAP_PERFMON (root). Thread-compatible: one thread uses it at a time.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

// Whose events count, and where the file lies in that process.
struct ProbeTarget {
  pid_t tgid = 0;
  std::uint64_t mapping_address = 0;  // 0: the file is not mapped
  std::uint64_t mapping_bytes = 0;
  // A thread of the target of which nothing is counted but how long it holds mmap_lock, and it is named where
  // others wait for it; 0: none.
  pid_t excluded_tid = 0;
  // It marks the pages of hints that it withholds, as ledger_fd() says.
  bool marks_withheld = false;
  // Attach what is dear on this kernel, too; see ProbeSet::has_dear_hook().
  bool with_dear = true;
};

// What is logged beside the counts; it costs nothing where it is off.
struct Logs {
  bool stacks = false;          // of faults that waited
  std::uint64_t window_ns = 0;  // single events that begin so long after an attach; 0: none
};

// What the probes counted while the gate was open. Groups of probes that are off are nullopt; single
// numbers that could not be had are nullopt with their reason in `unavailable`, keyed as in Row.
struct ProbeReadings {
  std::optional<std::vector<SyscallCount>> syscalls;
  std::optional<std::vector<MadviseCount>> madvise;
  std::optional<Faults> faults;
  std::optional<PageCache> page_cache;
  std::optional<Readahead> readahead;
  std::optional<MmapLock> mmap_lock;
  std::optional<BlockIo> block_io;
  std::optional<Reclaim> reclaim;
  std::optional<Hints> hints;
  std::optional<TimeSplit> time;  // without running_s, which only the length of the window gives
  std::map<std::string, std::string> unavailable;
  std::vector<ProbeStatus> probes;
  std::optional<std::vector<FaultStack>> stacks;
  std::optional<StackDrops> stacks_dropped;
  std::optional<EventLog> events;
};

// How many of the longest faults are told.
inline constexpr std::size_t kLongestFaults = 10;

// Adds the readings of another repetition of the same row: counts add up, histograms merge.
Status merge(ProbeReadings& sum, const ProbeReadings& more);

struct ProbeInfo {
  std::string_view name;     // "faults"
  std::string_view summary;  // what it gives
};
std::vector<ProbeInfo> probe_list();

class ProbeSet {
public:
  // Opens, chooses variants by loading and attaching, loads. A probe of which no variant works is not an
  // error: its status says why. About 120 ms on Linux 6.18.
  //   names    subset of probe_list(), empty: all
  //   file_fd  the file whose pages are followed; stays open as long as the set lives
  //   errors   usage: unknown name; unsupported: no privilege, no BTF
  static Result<std::unique_ptr<ProbeSet>> load(const std::vector<std::string>& names, int file_fd,
                                                const Logs& logs = {});
  virtual ~ProbeSet() = default;

  // A descriptor of the page of the gate (struct gate of bpf/contract.h), which the target opens and closes
  // around its measured window. To be mapped (MAP_SHARED, PROT_READ|PROT_WRITE, one page) by the target,
  // which needs no privilege for it, and handed over an exec. Owned by the set.
  virtual int gate_fd() const = 0;

  // A descriptor of the page ledger's marks, a byte per page of the file, to be mapped and handed over
  // likewise. The target writes gate.mark (as it stands after attach) to the byte of each page, after it has
  // read from it; and before it reads, gate.mark | MARK_WITHHELD for the pages of a hint that it withholds,
  // unless their byte is gate.mark. A file of more pages than there are bytes is followed in its first part
  // only. Owned by the set.
  virtual int ledger_fd() const = 0;
  virtual std::uint64_t ledger_bytes() const = 0;

  // Some event is so dear on this kernel that it belongs in repetitions of its own: mmap_lock's before 6.14.
  // Without it, the groups faults, mmap_lock and time of the readings do not hold.
  virtual bool has_dear_hook() const = 0;

  // Zeroes all counters, points the probes at the target, attaches them. The gate is left closed.
  virtual Status attach(const ProbeTarget& target) = 0;
  virtual void detach() = 0;

  // Sums since attach(). Call with the target's threads at rest.
  virtual Result<ProbeReadings> read() = 0;

  // Variant, reasons, losses since attach().
  virtual std::vector<ProbeStatus> status() const = 0;

  // Counts folios by order as pages of the file enter the cache, whoever adds them, between start and stop.
  // Used while a case fills the cache. nullopt: the page_cache hook does not work here.
  virtual Status start_folio_census() = 0;
  virtual std::optional<std::map<std::uint32_t, Count>> stop_folio_census() = 0;
};

}
