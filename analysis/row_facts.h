#pragma once
// What several findings and tables ask of a row, worked out once. All counters are those of the traced
// repetitions unless said otherwise.

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/run_record.h"

namespace iotrace {

// The machine is emulated instruction by instruction: its times are none.
bool emulated(const Host& host);

// A row of which something may be said: it has numbers, stayed in its state, and is not the A/A control.
bool may_be_judged(const Row& row);

// The repetitions that requested_bytes, device_bytes and rusage are sums over.
const std::optional<Measurement>& counted_measurement(const Row& row);

// Of all repetitions together; 0 without any.
double ops_of(const std::optional<Measurement>& measurement);
double thread_seconds(const Row& row, const std::optional<Measurement>& measurement);

// What the parts of `time` are shares of: the reader threads' time in the repetitions that they come from. 0:
// not known.
double time_total(const Row& row);

// Reads that were asked for in the traced repetitions, and the most pages that they can have touched: a read
// of n pages that starts at any byte touches n + 1.
double traced_reads(const Row& row);
double most_pages_touched(const Row& row, std::uint64_t page_size_bytes);

// madvise(WILLNEED) alone. nullopt: not counted.
struct HintCalls {
  Count issued = 0, accepted = 0;
};
std::optional<HintCalls> willneed_calls(const Row& row);

// Calls of any kind that ask the kernel to bring pages in, whatever they returned. nullopt: not counted.
std::optional<Count> hint_calls_of_any_kind(const Row& row);

// Calls of one name, whatever they returned. nullopt: not counted.
std::optional<Count> calls_of(const Row& row, std::string_view name);

// Faults on the file's pages, of the kinds that were counted.
Count faults_on_file(const Faults& faults);

// Who had to wait for mmap_lock, and how long: of all acquisitions the `contended` longest.
struct LockWaits {
  Count acquired = 0, contended = 0;
  double seconds = 0;                               // from the bins' lower edges: at most 12.5 % too low
  std::optional<std::uint64_t> p99_ns, longest_ns;  // nullopt: nobody waited
};
LockWaits contended_waits(const LockSide& side);

// Most bytes per second that the device delivered at any request size, or at this one. nullopt: not measured.
std::optional<double> bandwidth_ceiling(const RunRecord& record);
std::optional<double> bandwidth_ceiling(const RunRecord& record, std::uint64_t request_bytes);

// File size at which a repetition as long as asked for would leave half of the file unread. Rough: the device
// may be slower once nothing comes from the cache. nullopt: the counters don't say.
std::optional<double> size_that_stays_cold(const RunRecord& record, const Row& row);

}
