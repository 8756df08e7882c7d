#include "userspace/attach/attached_file.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <span>
#include <string>

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr double kNsPerS = 1e9;

// By enum hint_error.
constexpr const char* kHintErrors[HINT_ERRORS] = {"EINVAL", "ENOMEM", "EAGAIN", "others"};

Histogram histogram_of(const file_histogram& counted) {
  static_assert(FILE_SUB_BITS == kFileSubBits);
  std::vector<std::uint64_t> bins(std::begin(counted.bins), std::end(counted.bins));
  Histogram histogram(kFileSubBits);
  histogram.add_bins(bins, counted.sum, ~counted.inverted_min, counted.max);
  return histogram;
}

FaultClass faults_of(const file_stats& counted, fault_kind kind) {
  Histogram latency = histogram_of(counted.faults[kind]);
  return {.count = latency.count(), .lat_ns = latency};
}

Count sum(std::span<const Count, PAGE_SOURCE_SLOTS> by_source) {
  return std::accumulate(by_source.begin(), by_source.end(), Count{0});
}

Count sum(const __u64 (&by_source)[PAGE_SOURCE_SLOTS]) {
  return std::accumulate(std::begin(by_source), std::end(by_source), Count{0});
}

PageCacheBy by_source(const __u64 (&pages)[PAGE_SOURCE_SLOTS]) {
  return {.fault = pages[PAGE_BY_FAULT],
          .readahead = pages[PAGE_BY_READAHEAD],
          .hint = pages[PAGE_BY_HINT],
          .read = pages[PAGE_BY_READ],
          .other = pages[PAGE_BY_OTHER]};
}

void take_faults(const file_stats& counted, AttachedFile& file) {
  Faults& faults = file.faults.emplace();
  faults.mapped = faults_of(counted, FAULT_MAPPED);
  faults.waited = faults_of(counted, FAULT_WAITED);
  faults.read = faults_of(counted, FAULT_READ);
  faults.minor = counted.minor;
  faults.major = counted.major;
  faults.under_vma_lock = counted.under_vma_lock;
  faults.under_mmap_lock = counted.under_mmap_lock;
  for (const char* key : {"faults.other", "faults.retried", "faults.mapped_pages", "faults.around_pages",
                          "faults.blocked_threads_avg", "faults.blocked_threads_max"})
    file.unavailable[key] = "counted for all files together, in totals";
}

void take_pages(const WatchedFile& watched, AttachedFile& file) {
  const file_stats& counted = watched.counted;
  PageCache& pages = file.page_cache.emplace();
  pages.added_pages = sum(counted.added);
  pages.by = by_source(counted.added);
  pages.evicted_pages = counted.removed;
  pages.refault_pages = counted.refaults;
  pages.used_pages = sum(counted.used) + sum(std::span(watched.touched));
  for (const char* key : {"page_cache.wasted_pages", "page_cache.wasted_by"})
    file.unavailable[key] = "the kernel does not see each use of a mapped page: see wasted_least_pages and "
                            "wasted_most_pages";
  file.unavailable["page_cache.evicted_age_ns"] = "not kept by file";
  file.wasted_least_pages = sum(counted.wasted);
  file.wasted_most_pages = sum(counted.wasted) + sum(counted.around) + sum(std::span(watched.around)) +
                           sum(std::span(watched.untouched));
}

void take_hints(const WatchedFile& watched, AttachedFile& file) {
  const file_stats& counted = watched.counted;
  Hints& hints = file.hints.emplace();
  hints.late_pages = counted.late;
  const Count touched = counted.used[PAGE_BY_HINT] + watched.touched[PAGE_BY_HINT];
  hints.in_time_pages = touched - std::min<Count>(touched, counted.late);
  hints.useless_pages = counted.wasted[PAGE_BY_HINT];
  hints.issued = counted.hints;
  hints.rejected =
      std::accumulate(std::begin(counted.hints_refused), std::end(counted.hints_refused), Count{0});
  hints.needless_pages = counted.needless;
  hints.truncated_pages = counted.truncated;
  auto& errors = file.hint_errors.emplace();
  for (int error = 0; error < HINT_ERRORS; ++error)
    if (counted.hints_refused[error] > 0) errors[kHintErrors[error]] = counted.hints_refused[error];
  for (const char* key : {"hints.suppressed", "hints.suppressed_absent_pages"})
    file.unavailable[key] = "what a program withholds never reaches the kernel";
}

void take_io(const file_stats& counted, AttachedFile& file) {
  BlockIo& io = file.block_io.emplace();
  io.lat_ns = histogram_of(counted.io_ns);
  io.request_bytes = histogram_of(counted.io_bytes);
  io.reads = io.lat_ns->count();
  io.read_bytes = counted.io_bytes.sum;
  for (const char* key : {"block_io.queue_depth", "block_io.unplaced"})
    file.unavailable[key] = "counted for all files together, in totals";
}

// Without the probe of faults it is not known on which page a fault is, so neither who brought a page nor
// whether it was used.
void leave_out_faults(AttachedFile& file, const std::string& why) {
  file.faults = std::nullopt;
  file.wasted_least_pages = file.wasted_most_pages = std::nullopt;
  file.order = std::nullopt;
  for (const char* key : {"faults", "wasted_least_pages", "wasted_most_pages", "order"})
    file.unavailable[key] = why;
  if (!file.page_cache) return;
  PageCacheBy& by = file.page_cache->by;
  by.fault = by.readahead = by.other = std::nullopt;
  file.page_cache->used_pages = std::nullopt;
  for (const char* key : {"by.fault", "by.readahead", "by.other", "used_pages"})
    file.unavailable[fmt::format("page_cache.{}", key)] = why;
}

void leave_out_hints(AttachedFile& file, std::initializer_list<std::optional<Count> Hints::*> numbers,
                     std::initializer_list<const char*> keys, const std::string& why) {
  if (!file.hints) return;
  for (auto number : numbers) (*file.hints).*number = std::nullopt;
  for (const char* key : keys) file.unavailable[fmt::format("hints.{}", key)] = why;
}

void leave_out_calls(AttachedFile& file, const std::string& why) {
  file.reads = std::nullopt;
  file.hint_errors = std::nullopt;
  for (const char* key : {"reads", "hint_errors"}) file.unavailable[key] = why;
  leave_out_hints(file, {&Hints::issued, &Hints::rejected, &Hints::needless_pages, &Hints::truncated_pages},
                  {"issued", "rejected", "needless_pages", "truncated_pages"}, why);
}

void leave_out_pages(AttachedFile& file, const std::string& why) {
  file.page_cache = std::nullopt;
  file.wasted_least_pages = file.wasted_most_pages = std::nullopt;
  for (const char* key : {"page_cache", "wasted_least_pages", "wasted_most_pages"})
    file.unavailable[key] = why;
  // What a hint finds in the cache is told by what it adds.
  leave_out_hints(file,
                  {&Hints::in_time_pages, &Hints::late_pages, &Hints::useless_pages, &Hints::needless_pages},
                  {"in_time_pages", "late_pages", "useless_pages", "needless_pages"}, why);
}

}

AttachedFile quiet_file(const CataloguedFile& listed, std::uint64_t page_bytes) {
  AttachedFile file;
  file.path = listed.path;
  file.extension = extension_of(listed.path);
  file.deleted = listed.deleted;
  file.device = device_name(listed.device);
  file.inode = listed.inode;
  file.size_bytes = listed.size_bytes;
  file.mapped_bytes = 0;
  for (const auto& [advice, bytes] : listed.mapped_bytes) {
    file.advice.push_back({advice, bytes});
    *file.mapped_bytes += bytes;
  }
  file.resident_bytes = listed.resident_pages * page_bytes;
  return file;
}

AttachedFile attached_file(const WatchedFile& watched, const CataloguedFile* listed,
                           std::uint64_t page_bytes) {
  const file_stats& counted = watched.counted;
  AttachedFile file;
  if (listed) {
    file = quiet_file(*listed, page_bytes);
  } else {
    // Short, for a table shows the end of a path; it was closed before the iterators met it.
    file.path = fmt::format("unnamed inode {} of {}", counted.inode, device_name(counted.device));
    file.device = device_name(counted.device);
    file.inode = counted.inode;
    for (const char* key : {"size_bytes", "mapped_bytes", "resident_bytes"})
      file.unavailable[key] = "no mapping and no descriptor of it was met";
  }
  take_faults(counted, file);
  file.faults->longest = watched.longest;
  take_pages(watched, file);
  take_hints(watched, file);
  take_io(counted, file);
  Histogram reads = histogram_of(counted.reads);
  file.reads = FileReads{.calls = reads.count(), .bytes = counted.read_bytes, .lat_ns = reads};
  file.order = AccessOrder{counted.in_order, counted.out_of_order};
  return file;
}

AttachedThread attached_thread(const WatchedThread& watched, std::uint64_t now_ns) {
  const thread_waits& counted = watched.counted;
  AttachedThread thread;
  thread.pid = counted.tgid;
  thread.tid = watched.tid;
  thread.name.assign(counted.name, ::strnlen(counted.name, sizeof(counted.name)));
  thread.seconds = static_cast<double>(now_ns - std::min<std::uint64_t>(now_ns, counted.first_ns)) / kNsPerS;
  thread.faults = counted.faults;
  thread.fault_wait_s = static_cast<double>(counted.fault_ns) / kNsPerS;
  thread.read_wait_s = static_cast<double>(counted.read_ns) / kNsPerS;
  thread.mmap_lock_wait_s = static_cast<double>(counted.mmap_lock_ns) / kNsPerS;
  thread.futex_wait_s = static_cast<double>(counted.futex_ns) / kNsPerS;
  return thread;
}

double waited_s(const AttachedFile& file) {
  double ns = 0;
  auto add = [&](const Histogram& latency) {
    ns += latency.mean().value_or(0) * static_cast<double>(latency.count());
  };
  if (file.faults)
    for (const auto& kind : {file.faults->waited, file.faults->read})
      if (kind) add(kind->lat_ns);
  if (file.reads) add(file.reads->lat_ns);
  return ns / kNsPerS;
}

double waited_s(const AttachedThread& thread) {
  return thread.fault_wait_s.value_or(0) + thread.read_wait_s.value_or(0) +
         thread.mmap_lock_wait_s.value_or(0) + thread.futex_wait_s.value_or(0);
}

void leave_out_uncounted(AttachedFile& file, const Totals& totals) {
  auto why_not = [&](const char* group) {
    const auto reason = totals.unavailable.find(group);
    return reason == totals.unavailable.end() ? std::string() : reason->second;
  };
  if (!totals.faults) leave_out_faults(file, why_not("faults"));
  if (!totals.syscalls) leave_out_calls(file, why_not("syscalls"));
  if (!totals.page_cache) leave_out_pages(file, why_not("page_cache"));
  if (!totals.block_io) {
    file.block_io = std::nullopt;
    file.unavailable["block_io"] = why_not("block_io");
  }
}

void leave_out_uncounted(AttachedThread& thread, const Totals& totals) {
  if (!totals.faults || !totals.faults->read) {
    thread.faults = std::nullopt;
    thread.fault_wait_s = std::nullopt;
  }
  if (!totals.syscalls) thread.read_wait_s = thread.futex_wait_s = std::nullopt;
  if (!totals.mmap_lock) thread.mmap_lock_wait_s = std::nullopt;
}

void sort_by_waiting(std::vector<AttachedFile>& files) {
  std::ranges::stable_sort(files, std::greater(), [](const AttachedFile& file) { return waited_s(file); });
}

void sort_by_waiting(std::vector<AttachedThread>& threads) {
  std::ranges::stable_sort(threads, std::greater(),
                           [](const AttachedThread& thread) { return waited_s(thread); });
}

}
