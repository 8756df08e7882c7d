#include "userspace/controller/row_builder.h"

#include <algorithm>

namespace iotrace {

namespace {

constexpr std::size_t kMostHolders = 10;  // of mmap_lock, those that were waited for most

}

RowBuilder::RowBuilder(const PlannedRow& planned) {
  row_.strategy = planned.strategy->name;
  row_.case_name = planned.cache_case->name;
  row_.pattern = planned.pattern->name;
  row_.threads = planned.threads;
  row_.read_size_bytes = planned.read_size_bytes;
  row_.reads_per_op = planned.reads_per_op;
  row_.control = planned.control;
  row_.expects.hints = planned.strategy->hints;
  if (!planned.strategy->differs_from.empty()) row_.expects.differs_from = planned.strategy->differs_from;
  row_.cell = planned.cell;
}

void RowBuilder::set_memory(std::optional<std::uint64_t> limit_bytes, const std::string& reason) {
  row_.cell.memory_limit_bytes = limit_bytes;
  if (!reason.empty()) row_.unavailable["cell.memory_limit_bytes"] = reason;
}

void RowBuilder::add(Sums& sums, const RepetitionResult& result) {
  sums.measurement.reps.push_back(result.repetition);
  sums.thread_seconds += result.thread_seconds;
  sums.idle_seconds += result.idle_seconds;
  // same layouts by construction
  static_cast<void>(sums.measurement.lat_ns.merge(result.lat_ns));
  static_cast<void>(sums.response_ns.merge(result.response_ns));
  sums.requested_bytes += result.requested_bytes;
  sums.suppressed_hints += result.suppressed_hints;
  if (sums.device_bytes && result.device_bytes)
    *sums.device_bytes += *result.device_bytes;
  else
    sums.device_bytes.reset();
  sums.rusage.major_faults += result.rusage.major_faults;
  sums.rusage.minor_faults += result.rusage.minor_faults;
  sums.rusage.user_s += result.rusage.user_s;
  sums.rusage.system_s += result.rusage.system_s;
  sums.rusage.ctx_voluntary += result.rusage.ctx_voluntary;
  sums.rusage.ctx_involuntary += result.rusage.ctx_involuntary;
}

void RowBuilder::add(const RepetitionResult& result, bool traced) {
  add(traced ? traced_ : untraced_, result);
  if (!result.readings) return;
  add_readings(readings_, *result.readings);
}

void RowBuilder::add_dear_pass(const RepetitionResult& result) {
  add(dear_, result);
  if (result.readings) add_readings(dear_readings_, *result.readings);
}

void RowBuilder::add_readings(std::optional<ProbeReadings>& sum, const ProbeReadings& more) {
  if (!sum)
    sum = more;
  else if (Status merged = merge(*sum, more); !merged)
    fail(merged.error().message);
}

// How many threads waited in faults, averaged over the windows.
void RowBuilder::take_blocked_threads(const Measurement& windows) {
  if (!row_.faults) return;
  double seconds = 0;
  for (const Repetition& repetition : windows.reps) seconds += repetition.seconds;
  const char* key = "faults.blocked_threads_avg";
  if (row_.time && row_.time->fault_wait_s && seconds > 0) {
    row_.faults->blocked_threads_avg = *row_.time->fault_wait_s / seconds;
    row_.unavailable.erase(key);
  } else {
    row_.unavailable[key] = "the time that faults waited is not known";
  }
}

void RowBuilder::take_time(const ProbeReadings& readings, const Sums& windows) {
  row_.time = readings.time;
  if (!row_.time) return;
  const auto& [running, fault, read, lock, idle] = *row_.time;
  if (row_.cell.pace == "open") row_.time->idle_s = windows.idle_seconds;
  if (fault && read && lock)
    row_.time->running_s =
        std::max(0.0, windows.thread_seconds - windows.idle_seconds - *fault - *read - *lock);
  else
    row_.unavailable["time.running_s"] = "the rest of the time, of which a part is not known";
}

// Service is what a closed loop calls latency; the response counts from when the op was meant to start.
void RowBuilder::take_responses(Sums& sums) {
  if (row_.cell.pace != "open") return;
  row_.service_ns = sums.measurement.lat_ns;
  row_.response_ns = std::move(sums.response_ns);
}

void RowBuilder::take_readings(ProbeReadings&& readings) {
  take_time(readings, traced_);
  row_.hints = readings.hints;
  if (row_.hints) row_.hints->suppressed = traced_.suppressed_hints;
  row_.syscalls = std::move(readings.syscalls);
  row_.madvise = std::move(readings.madvise);
  row_.faults = std::move(readings.faults);
  row_.page_cache = std::move(readings.page_cache);
  row_.readahead = std::move(readings.readahead);
  row_.block_io = std::move(readings.block_io);
  row_.reclaim = std::move(readings.reclaim);
  row_.mmap_lock = std::move(readings.mmap_lock);
  take_blocked_threads(*row_.traced);
  row_.probes = std::move(readings.probes);
  row_.stacks = std::move(readings.stacks);
  row_.stacks_dropped = readings.stacks_dropped;
  if (readings.events) {
    row_.events_window_s = readings.events->window_s;
    row_.events = std::move(readings.events->list);
    row_.events_dropped = readings.events->dropped;
  }
  row_.unavailable.merge(readings.unavailable);
}

void RowBuilder::take_dear_readings(ProbeReadings&& readings) {
  take_time(readings, dear_);
  row_.faults = std::move(readings.faults);
  row_.mmap_lock = std::move(readings.mmap_lock);
  take_blocked_threads(dear_.measurement);
  for (ProbeStatus& status : row_.probes)
    for (const ProbeStatus& again : readings.probes)
      if (status.name == again.name) {
        status.lost += again.lost;
        status.unmatched += again.unmatched;
      }
  row_.dear_pass = std::move(dear_.measurement);
}

void RowBuilder::set_fio(const Result<FioPeer>& peer) {
  if (peer)
    row_.fio = *peer;
  else
    row_.unavailable["fio"] = peer.error().message;
}

Row RowBuilder::finish() && {
  const bool any_traced = !traced_.measurement.reps.empty();
  const bool any_untraced = !untraced_.measurement.reps.empty();
  if (!row_.error && !any_traced && !any_untraced)
    row_.error = "not measured: the run was interrupted before";

  Sums& counters = any_traced ? traced_ : untraced_;
  row_.counters_from = any_traced ? "traced" : "untraced";
  row_.requested_bytes = counters.requested_bytes;
  if (any_traced || any_untraced) {
    row_.device_bytes = counters.device_bytes;
    row_.rusage = counters.rusage;
    if (!row_.device_bytes) row_.unavailable["device_bytes"] = "/proc/PID/io could not be read";
  }
  if (any_untraced || any_traced) take_responses(any_untraced ? untraced_ : traced_);
  if (any_untraced) row_.untraced = std::move(untraced_.measurement);
  if (any_traced) row_.traced = std::move(traced_.measurement);
  if (readings_) {
    take_readings(std::move(*readings_));
    if (dear_readings_) take_dear_readings(std::move(*dear_readings_));
    if (row_.mmap_lock && row_.mmap_lock->holders && row_.mmap_lock->holders->size() > kMostHolders)
      row_.mmap_lock->holders->resize(kMostHolders);
  } else
    for (const char* group : {"syscalls", "madvise", "faults", "page_cache", "readahead", "mmap_lock",
                              "block_io", "reclaim", "hints", "time"})
      row_.unavailable.try_emplace(group, row_.control ? "the A/A control is not traced"
                                                       : "not traced (--probes off)");
  return std::move(row_);
}

}
