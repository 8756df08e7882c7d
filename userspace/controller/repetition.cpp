#include "userspace/controller/repetition.h"

#include <cmath>

#include <fmt/format.h>

#include "analysis/drift.h"
#include "userspace/controller/device_bytes.h"
#include "userspace/worker/usage.h"

namespace iotrace {

namespace {

using namespace std::chrono_literals;

// Longest silence in a setup stage (filling, touching): a slow disk may need it, a hung one must not stall
// us.
constexpr auto kLookWhileSettingUp = 20ms;
// While a cold window runs, device bytes are looked at this often: at 2 GB/s half of a 1 GiB file takes 270
// ms.
constexpr auto kLookWhileCold = 4ms;
constexpr auto kLookOtherwise = 50ms;

// Faults per read above which a window was not "warm". Stray faults (a thread's stack) stay below it.
constexpr double kWarmFaultsPerRead = 0.01;
constexpr std::uint64_t kStrayFaults = 64;

Order order_for(const RunContext& run, const PlannedRow& row, const PlannedRepetition& planned) {
  const Options& options = run.options;
  Order order;
  row.strategy->name.copy(order.strategy.data(), order.strategy.size() - 1);
  row.pattern->name.copy(order.pattern.data(), order.pattern.size() - 1);
  order.threads = row.threads;
  order.reads_per_op = row.reads_per_op;
  order.round = planned.round;
  order.touch = row.cache_case->touch;
  // What reads past the cache reads the same whatever is in it.
  order.fill = row.cache_case->start == Case::Start::kFilledInside && !row.strategy->bypasses_cache;
  // A hot part is hot from the start; what is cold is the rest.
  if (row.cache_case->start == Case::Start::kEvicted && !row.strategy->bypasses_cache)
    order.fill_front_bytes = row.cell.hot_size_bytes.value_or(0);
  order.stop_at_pattern_end = row.cache_case->device_share_limit.has_value() && row.pattern->finite;
  order.traced = planned.traced;
  order.ledger_bytes = planned.traced ? run.probes->ledger_bytes() : 0;
  order.file_size_bytes = run.file_size_bytes;
  order.read_size_bytes = row.read_size_bytes;
  order.align_bytes = row.cell.align_bytes;
  order.rate = row.cell.rate.value_or(0);
  order.poisson = row.cell.arrivals != "fixed";
  order.compute_ns = row.cell.compute_ns;
  order.mmap_churn = row.cell.mmap_churn;
  order.write_pct = row.cell.write_pct;
  order.hot_size_bytes = row.cell.hot_size_bytes.value_or(0);
  order.cold_pct = row.cell.cold_pct.value_or(0);
  order.zipf_theta = row.cell.zipf_theta.value_or(0);
  order.stride_bytes = row.cell.stride_bytes.value_or(0);
  order.seed = run.seed;
  order.warmup_ns = row.cache_case->warm_up ? static_cast<std::uint64_t>(options.warmup_s * 1e9) : 0;
  order.duration_ns = static_cast<std::uint64_t>(options.duration_s * 1e9);
  order.ops = planned.dear_pass_ops ? planned.dear_pass_ops : options.ops.value_or(0);
  return order;
}

// Takes the worker's results out of the shared block.
void collect(const SharedBlock& block, const ThreadResult* threads, RepetitionResult& result) {
  std::uint64_t end_ns = block.start_ns, unserved = 0, writes = 0;
  for (std::uint32_t t = 0; t < block.order.threads; ++t) {
    const ThreadResult& thread = threads[t];
    result.repetition.ops += thread.ops;
    result.requested_bytes += thread.bytes;
    result.checksum += thread.checksum;
    result.suppressed_hints += thread.suppressed_hints;
    end_ns = std::max(end_ns, thread.end_ns);
    result.thread_seconds += static_cast<double>(thread.end_ns - block.start_ns) / 1e9;
    result.idle_seconds += static_cast<double>(thread.idle_ns) / 1e9;
    result.lat_ns.add_bins(thread.lat_bins, thread.lat_sum_ns, thread.lat_min_ns, thread.lat_max_ns);
    result.response_ns.add_bins(thread.response_bins, thread.response_sum_ns, thread.response_min_ns,
                                thread.response_max_ns);
    unserved += thread.unserved;
    writes += thread.writes;
  }
  result.repetition.settled = block.settled;
  result.repetition.seconds = static_cast<double>(end_ns - block.start_ns) / 1e9;

  if (block.order.rate > 0) result.repetition.unserved = unserved;
  if (block.order.write_pct > 0) result.repetition.writes = writes;
  if (block.order.mmap_churn > 0) result.repetition.churn_done = block.churn_done;

  const UsageMark used = block.usage_end - block.usage_start - block.churn_usage;
  result.rusage = {
      .major_faults = used.major_faults,
      .minor_faults = used.minor_faults,
      .user_s = static_cast<double>(used.user_ns) / 1e9,
      .system_s = static_cast<double>(used.system_ns) / 1e9,
      .ctx_voluntary = used.ctx_voluntary,
      .ctx_involuntary = used.ctx_involuntary,
  };
}

// Operations of all threads per slot, slots of one width, as far as the window reached.
std::vector<std::uint64_t> ops_per_slot(const ThreadResult* threads, std::uint32_t count, double seconds) {
  std::uint64_t width = 0;
  for (std::uint32_t t = 0; t < count; ++t) width = std::max(width, threads[t].series.width_ns);
  const auto slots = std::min<std::size_t>(
      RateSeries::kSlots, static_cast<std::size_t>(std::ceil(seconds * 1e9 / static_cast<double>(width))));
  std::vector<std::uint64_t> sums(slots);
  for (std::uint32_t t = 0; t < count; ++t) {
    RateSeries series = threads[t].series;
    while (series.width_ns < width) series.join_pairs();
    for (std::size_t i = 0; i < slots; ++i) sums[i] += series.ops[i];
  }
  return sums;
}

Status check_state_kept(const PlannedRow& row, const RepetitionResult& result) {
  const Case& cache_case = *row.cache_case;
  const auto& after = result.repetition.residency_after_ratio;
  if (cache_case.residency_stays && after && *after < cache_case.residency_at_least)
    return Error{fmt::format(
        "'{}' did not last: only {:.2f} % of the file was resident after the window; something else "
        "needs the memory",
        cache_case.name, 100 * *after)};
  const std::uint64_t faults = result.rusage.major_faults + result.rusage.minor_faults;
  const double reads = static_cast<double>(result.repetition.ops) * row.reads_per_op;
  // A store into a clean page faults, however warm the page is: that is how the kernel learns of dirty pages.
  const bool stores = row.cell.write_pct > 0 && row.strategy->maps_file;
  if (cache_case.no_faults && !stores &&
      static_cast<double>(faults) > kStrayFaults + kWarmFaultsPerRead * reads)
    return Error{fmt::format(
        "'{}' was not reached: {} page faults in {:.0f} reads; another process unmaps or reclaims the "
        "file's pages",
        cache_case.name, faults, reads)};
  return {};
}

}

Result<RepetitionResult> run_repetition(const RunContext& run, const PlannedRow& row,
                                        const PlannedRepetition& planned, const MemoryCgroup* cgroup) {
  const Case& cache_case = *row.cache_case;
  auto worker = WorkerProcess::start({
      .order = order_for(run, row, planned),
      .file_path = run.file_path,
      .scratch_fd = run.file_fd,
      .gate_fd = planned.traced ? run.probes->gate_fd() : -1,
      .ledger_fd = planned.traced ? run.probes->ledger_fd() : -1,
      .user = &run.user,
      .cgroup = cgroup,
      .guardian = run.guardian,
  });
  if (!worker) return worker.error();
  SharedBlock& block = worker->block();
  if (Status built = worker->wait_for(WorkerState::kMapped, kLookWhileSettingUp, {}); !built)
    return built.error();

  RepetitionResult result;
  auto before = run.cache->prepare(cache_case);
  if (before)
    result.repetition.residency_before_ratio = before->ratio();
  else if (cache_case.start != Case::Start::kAsIs)
    return before.error();

  worker->order(Command::kWarmUp);
  if (Status warm = worker->wait_for(WorkerState::kWarm, kLookWhileSettingUp, {}); !warm) return warm.error();
  if (block.order.fill) {
    auto filled = run.cache->prove_filled(cache_case);
    if (!filled) return filled.error();
    result.repetition.residency_before_ratio = filled->ratio();
  } else if (block.order.fill_front_bytes) {
    result.repetition.residency_before_ratio = run.cache->residency_ratio();
  }

  auto device_before = device_read_bytes(worker->pid());
  if (planned.traced) {
    const ProbeTarget target{.tgid = worker->pid(),
                             .mapping_address = block.mapping_address,
                             .mapping_bytes = block.mapping_address ? run.file_size_bytes : 0,
                             .excluded_tid = static_cast<pid_t>(block.churn_tid),
                             .marks_withheld = row.strategy->withholds,
                             .with_dear = planned.dear_pass_ops > 0};
    if (Status attached = run.probes->attach(target); !attached) return attached.error();
  }

  const bool bounded = cache_case.device_share_limit && !row.strategy->bypasses_cache && device_before;
  const auto device_limit = bounded ? static_cast<std::uint64_t>(*cache_case.device_share_limit *
                                                                 static_cast<double>(run.file_size_bytes))
                                    : 0;
  worker->order(Command::kGo);
  Status measured = worker->wait_for(WorkerState::kDone, bounded ? kLookWhileCold : kLookOtherwise, [&] {
    if (!bounded) return;
    auto now = device_read_bytes(worker->pid());
    if (now && *now - *device_before >= device_limit) worker->stop();
  });
  if (planned.traced) {
    if (measured) {
      auto readings = run.probes->read();
      if (readings)
        result.readings = std::move(*readings);
      else
        measured = readings.error();
    }
    run.probes->detach();
  }
  if (!measured) return measured.error();

  auto device_after = device_read_bytes(worker->pid());
  if (device_before && device_after) result.device_bytes = *device_after - *device_before;
  result.repetition.residency_after_ratio = run.cache->residency_ratio();
  collect(block, block.threads(), result);
  // A finite pattern reads nothing twice: no page of it is found cached because it was read before.
  if (cache_case.device_share_limit && !block.order.stop_at_pattern_end)
    result.repetition.drifted =
        drifted(result.repetition.residency_after_ratio,
                ops_per_slot(block.threads(), row.threads, result.repetition.seconds));
  worker->finish();
  if (Status kept = check_state_kept(row, result); !kept) return kept.error();
  return result;
}

}
