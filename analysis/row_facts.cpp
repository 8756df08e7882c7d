#include "analysis/row_facts.h"

#include <algorithm>
#include <string_view>

namespace iotrace {

bool emulated(const Host& host) {
  return host.virtualisation == "qemu";  // as QEMU's own processor (TCG) calls itself; under KVM it is "kvm"
}

bool may_be_judged(const Row& row) {
  return !row.error && !row.drifted && !row.control;
}

const std::optional<Measurement>& counted_measurement(const Row& row) {
  return row.counters_from == "untraced" ? row.untraced : row.traced;
}

double ops_of(const std::optional<Measurement>& measurement) {
  double ops = 0;
  if (measurement)
    for (const Repetition& rep : measurement->reps) ops += static_cast<double>(rep.ops);
  return ops;
}

double thread_seconds(const Row& row, const std::optional<Measurement>& measurement) {
  double seconds = 0;
  if (measurement)
    for (const Repetition& rep : measurement->reps) seconds += rep.seconds * row.threads;
  return seconds;
}

double time_total(const Row& row) {
  return thread_seconds(row, row.dear_pass ? row.dear_pass : row.traced);
}

double traced_reads(const Row& row) {
  return ops_of(row.traced) * row.reads_per_op;
}

double most_pages_touched(const Row& row, std::uint64_t page_size_bytes) {
  if (page_size_bytes == 0 || row.read_size_bytes == 0) return 0;
  return traced_reads(row) * static_cast<double>((row.read_size_bytes - 1) / page_size_bytes + 2);
}

std::optional<HintCalls> willneed_calls(const Row& row) {
  if (!row.madvise) return std::nullopt;
  HintCalls calls;
  for (const MadviseCount& count : *row.madvise) {
    if (count.advice != "WILLNEED") continue;
    calls.issued += count.calls;
    if (!count.error) calls.accepted += count.calls;
  }
  return calls;
}

std::optional<Count> hint_calls_of_any_kind(const Row& row) {
  if (!row.madvise || !row.syscalls) return std::nullopt;
  Count calls = 0;
  for (const MadviseCount& count : *row.madvise)
    if (count.advice == "WILLNEED" || count.advice.starts_with("POPULATE")) calls += count.calls;
  // process_madvise(2) knows no advice that matters here but WILLNEED, COLD and PAGEOUT.
  for (std::string_view name : {"process_madvise", "fadvise64", "readahead"}) calls += *calls_of(row, name);
  return calls;
}

std::optional<Count> calls_of(const Row& row, std::string_view name) {
  if (!row.syscalls) return std::nullopt;
  Count calls = 0;
  for (const SyscallCount& count : *row.syscalls)
    if (count.name == name) calls += count.calls;
  return calls;
}

Count faults_on_file(const Faults& faults) {
  Count all = 0;
  for (const auto* kind : {&faults.mapped, &faults.waited, &faults.read})
    if (*kind) all += (*kind)->count;
  return all;
}

LockWaits contended_waits(const LockSide& side) {
  LockWaits waits{.acquired = side.acquired, .contended = side.contended};
  Count n = side.wait_ns.count(), left = std::min(side.contended, n);
  if (left == 0) return waits;
  waits.longest_ns = side.wait_ns.max();
  waits.p99_ns = side.wait_ns.percentile(1 - 0.01 * static_cast<double>(left) / static_cast<double>(n));
  const auto& bins = side.wait_ns.bins();
  for (auto bin = bins.rbegin(); bin != bins.rend() && left > 0; ++bin) {
    Count taken = std::min(left, bin->second);
    waits.seconds += static_cast<double>(taken) *
                     static_cast<double>(histogram_bin_low(bin->first, side.wait_ns.sub_bits())) / 1e9;
    left -= taken;
  }
  return waits;
}

std::optional<double> bandwidth_ceiling(const RunRecord& record) {
  std::optional<double> most;
  for (const CeilingPoint& point : record.ceiling.value_or(std::vector<CeilingPoint>()))
    most = std::max(most.value_or(0), point.bw_bytes);
  return most;
}

std::optional<double> bandwidth_ceiling(const RunRecord& record, std::uint64_t request_bytes) {
  std::optional<double> most;
  for (const CeilingPoint& point : record.ceiling.value_or(std::vector<CeilingPoint>()))
    if (point.request_bytes == request_bytes) most = std::max(most.value_or(0), point.bw_bytes);
  return most;
}

std::optional<double> size_that_stays_cold(const RunRecord& record, const Row& row) {
  const auto& measured = counted_measurement(row);
  if (!row.device_bytes || !measured) return std::nullopt;
  double seconds = 0;
  for (const Repetition& rep : measured->reps) seconds += rep.seconds;
  if (seconds <= 0 || record.options.duration_s <= 0) return std::nullopt;
  double needed = 2 * static_cast<double>(*row.device_bytes) / seconds * record.options.duration_s;
  // What drifted at this size needs more, whatever the average rate says.
  return std::max(needed, 2.0 * static_cast<double>(record.file.size_bytes));
}

}
