#include "analysis/attach_facts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace iotrace {

namespace {

// A sum is known where every part is.
template<typename Number> std::optional<Number> plus(std::optional<Number> a, std::optional<Number> b) {
  return a && b ? std::optional<Number>(*a + *b) : std::nullopt;
}

std::optional<Histogram> together(std::optional<Histogram> a, const std::optional<Histogram>& b) {
  if (!a || !b) return std::nullopt;
  if (a->count() == 0) return b;
  if (b->count() == 0) return a;
  return a->merge(*b) ? a : std::nullopt;
}

std::optional<FaultClass> together(const std::optional<FaultClass>& a, const std::optional<FaultClass>& b) {
  if (!a || !b) return std::nullopt;
  auto latencies = together(std::optional(a->lat_ns), std::optional(b->lat_ns));
  if (!latencies) return std::nullopt;
  return FaultClass{a->count + b->count, *latencies};
}

std::optional<Faults> together(const std::optional<Faults>& a, const std::optional<Faults>& b) {
  if (!a || !b) return std::nullopt;
  return Faults{.mapped = together(a->mapped, b->mapped),
                .waited = together(a->waited, b->waited),
                .read = together(a->read, b->read)};
}

PageCacheBy together(const PageCacheBy& a, const PageCacheBy& b) {
  return {plus(a.fault, b.fault), plus(a.readahead, b.readahead), plus(a.hint, b.hint), plus(a.read, b.read),
          plus(a.other, b.other)};
}

std::optional<PageCache> together(const std::optional<PageCache>& a, const std::optional<PageCache>& b) {
  if (!a || !b) return std::nullopt;
  return PageCache{.added_pages = plus(a->added_pages, b->added_pages),
                   .by = together(a->by, b->by),
                   .used_pages = plus(a->used_pages, b->used_pages),
                   .wasted_pages = plus(a->wasted_pages, b->wasted_pages),
                   .evicted_pages = plus(a->evicted_pages, b->evicted_pages),
                   .refault_pages = plus(a->refault_pages, b->refault_pages),
                   .wasted_by = together(a->wasted_by, b->wasted_by)};
}

std::optional<Hints> together(const std::optional<Hints>& a, const std::optional<Hints>& b) {
  if (!a || !b) return std::nullopt;
  return Hints{.issued = plus(a->issued, b->issued),
               .rejected = plus(a->rejected, b->rejected),
               .in_time_pages = plus(a->in_time_pages, b->in_time_pages),
               .late_pages = plus(a->late_pages, b->late_pages),
               .needless_pages = plus(a->needless_pages, b->needless_pages),
               .useless_pages = plus(a->useless_pages, b->useless_pages),
               .truncated_pages = plus(a->truncated_pages, b->truncated_pages)};
}

using Errors = std::optional<std::map<std::string, Count>>;

Errors together(Errors a, const Errors& b) {
  if (!a || !b) return std::nullopt;
  for (const auto& [name, calls] : *b) (*a)[name] += calls;
  return a;
}

std::optional<BlockIo> together(const std::optional<BlockIo>& a, const std::optional<BlockIo>& b) {
  if (!a || !b) return std::nullopt;
  return BlockIo{.reads = plus(a->reads, b->reads),
                 .read_bytes = plus(a->read_bytes, b->read_bytes),
                 .lat_ns = together(a->lat_ns, b->lat_ns),
                 .request_bytes = together(a->request_bytes, b->request_bytes),
                 .queue_depth = together(a->queue_depth, b->queue_depth)};
}

std::optional<FileReads> together(const std::optional<FileReads>& a, const std::optional<FileReads>& b) {
  if (!a || !b) return std::nullopt;
  auto latencies = together(std::optional(a->lat_ns), std::optional(b->lat_ns));
  if (!latencies) return std::nullopt;
  return FileReads{a->calls + b->calls, a->bytes + b->bytes, *latencies};
}

void add_advice(std::vector<AdviceInForce>& sum, const std::vector<AdviceInForce>& more) {
  for (const AdviceInForce& added : more) {
    auto same = std::ranges::find(sum, added.advice, &AdviceInForce::advice);
    if (same == sum.end())
      sum.push_back(added);
    else
      same->bytes += added.bytes;
  }
}

}

bool of_attach(const RunRecord& record) {
  return record.command == "attach";
}

std::string target_name(const RunRecord& record) {
  if (!record.target || record.target->processes.empty()) return "the target";
  const auto& processes = record.target->processes;
  if (processes.size() == 1) return fmt::format("{} ({})", processes[0].name, processes[0].pid);
  const bool one_name = std::ranges::all_of(
      processes, [&](const WatchedProcess& process) { return process.name == processes[0].name; });
  return fmt::format("{} processes{}", processes.size(), one_name ? ' ' + processes[0].name : "");
}

std::optional<Count> waiting_faults(const AttachedFile& file) {
  if (!file.faults || !file.faults->waited || !file.faults->read) return std::nullopt;
  return file.faults->waited->count + file.faults->read->count;
}

std::optional<Histogram> waiting_latency(const std::optional<Faults>& faults) {
  if (!faults || !faults->waited || !faults->read) return std::nullopt;
  return together(std::optional(faults->waited->lat_ns), std::optional(faults->read->lat_ns));
}

double waited_seconds(const AttachedFile& file) {
  double ns = 0;
  if (file.faults)
    for (const auto* kind : {&file.faults->waited, &file.faults->read})
      if (*kind) ns += static_cast<double>((*kind)->lat_ns.sum());
  if (file.reads) ns += static_cast<double>(file.reads->lat_ns.sum());
  return ns / 1e9;
}

bool is_active(const AttachedFile& file) {
  if (waiting_faults(file).value_or(0) > 0 || (file.reads && file.reads->calls > 0)) return true;
  if (file.page_cache &&
      (file.page_cache->added_pages.value_or(0) > 0 || file.page_cache->evicted_pages.value_or(0) > 0))
    return true;
  if (file.hints && file.hints->issued.value_or(0) > 0) return true;
  return file.block_io && file.block_io->reads.value_or(0) > 0;
}

std::optional<double> needed_bytes(const AttachedFile& file, std::uint64_t page_size_bytes) {
  const auto faults = waiting_faults(file);
  if (!faults || !file.reads) return std::nullopt;
  const double bytes =
      static_cast<double>(*faults * page_size_bytes) + static_cast<double>(file.reads->bytes);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

std::string_view prevailing_advice(const AttachedFile& file) {
  std::uint64_t all = 0;
  for (const AdviceInForce& advice : file.advice) all += advice.bytes;
  for (const AdviceInForce& advice : file.advice)
    if (advice.bytes > 0 && 2 * advice.bytes >= all) return advice.advice;
  return {};
}

std::optional<double> resident_ratio(const AttachedFile& file) {
  if (!file.resident_bytes || file.size_bytes.value_or(0) == 0) return std::nullopt;
  // The last page is resident as a whole.
  return std::min(1.0, static_cast<double>(*file.resident_bytes) / static_cast<double>(*file.size_bytes));
}

AttachedFile sum_of(const std::vector<const AttachedFile*>& files) {
  AttachedFile sum = *files.front();
  for (std::size_t i = 1; i < files.size(); ++i) {
    const AttachedFile& file = *files[i];
    sum.size_bytes = plus(sum.size_bytes, file.size_bytes);
    sum.mapped_bytes = plus(sum.mapped_bytes, file.mapped_bytes);
    sum.resident_bytes = plus(sum.resident_bytes, file.resident_bytes);
    add_advice(sum.advice, file.advice);
    sum.faults = together(sum.faults, file.faults);
    sum.page_cache = together(sum.page_cache, file.page_cache);
    sum.wasted_least_pages = plus(sum.wasted_least_pages, file.wasted_least_pages);
    sum.wasted_most_pages = plus(sum.wasted_most_pages, file.wasted_most_pages);
    sum.hints = together(sum.hints, file.hints);
    sum.hint_errors = together(sum.hint_errors, file.hint_errors);
    sum.block_io = together(sum.block_io, file.block_io);
    sum.reads = together(sum.reads, file.reads);
    if (sum.order && file.order)
      sum.order = AccessOrder{sum.order->in_order + file.order->in_order,
                              sum.order->out_of_order + file.order->out_of_order};
    else
      sum.order = std::nullopt;
  }
  return sum;
}

bool waited(const AttachedThread& thread) {
  return thread.faults.value_or(0) > 0 || thread.fault_wait_s.value_or(0) > 0 ||
         thread.read_wait_s.value_or(0) > 0 || thread.mmap_lock_wait_s.value_or(0) > 0;
}

RunRecord totals_as_row(const RunRecord& record) {
  RunRecord out;
  out.command = record.command;
  out.host = record.host;
  out.target = record.target;
  if (!record.totals) return out;
  const Totals& totals = *record.totals;
  Row row;
  row.strategy = target_name(record);
  row.threads = 0;
  double thread_seconds = 0;
  for (const AttachedThread& thread : record.threads)
    if (waited(thread)) {
      ++row.threads;
      thread_seconds += thread.seconds;
    }
  // A row's threads share its seconds; these may have come and gone.
  row.traced.emplace();
  row.traced->reps.push_back({.seconds = row.threads > 0 ? thread_seconds / row.threads : 0});
  row.counters_from = "traced";
  row.time = totals.time;
  row.syscalls = totals.syscalls;
  row.madvise = totals.madvise;
  row.hints = totals.hints;
  row.faults = totals.faults;
  row.page_cache = totals.page_cache;
  row.readahead = totals.readahead;
  row.mmap_lock = totals.mmap_lock;
  row.block_io = totals.block_io;
  row.reclaim = totals.reclaim;
  row.unavailable = totals.unavailable;
  row.probes = totals.probes;
  out.rows.push_back(std::move(row));
  return out;
}

}
