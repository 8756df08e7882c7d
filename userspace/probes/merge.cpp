// Sums of the readings of several repetitions.

#include <algorithm>
#include <functional>

#include "userspace/probes/probe_set.h"

namespace iotrace {

namespace {

// A sum of which one part is unknown is unknown.
void add(std::optional<Count>& sum, const std::optional<Count>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

Status add(std::optional<FaultClass>& sum, const std::optional<FaultClass>& more) {
  if (!sum || !more) {
    sum.reset();
    return {};
  }
  sum->count += more->count;
  return sum->lat_ns.merge(more->lat_ns);
}

Status add(std::optional<Histogram>& sum, const std::optional<Histogram>& more) {
  if (sum && more) return sum->merge(*more);
  sum.reset();
  return {};
}

Status add(std::optional<LockSide>& sum, const std::optional<LockSide>& more) {
  if (!sum || !more) {
    sum.reset();
    return {};
  }
  sum->acquired += more->acquired;
  sum->contended += more->contended;
  add(sum->slow_path, more->slow_path);
  if (Status merged = add(sum->hold_ns, more->hold_ns); !merged) return merged;
  return sum->wait_ns.merge(more->wait_ns);
}

// The larger one, if both are known.
void keep_larger(std::optional<Count>& most, const std::optional<Count>& more) {
  most = most && more ? std::optional(std::max(*most, *more)) : std::nullopt;
}

void add(std::optional<double>& sum, const std::optional<double>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

// The longest of both, longest first.
void add(std::optional<std::vector<LongFault>>& sum, const std::optional<std::vector<LongFault>>& more) {
  if (!sum || !more) {
    sum.reset();
    return;
  }
  sum->insert(sum->end(), more->begin(), more->end());
  std::ranges::stable_sort(*sum, std::greater(), &LongFault::latency_ns);
  if (sum->size() > kLongestFaults) sum->resize(kLongestFaults);
}

Status add(Faults& sum, const Faults& more) {
  for (auto kind : {&Faults::mapped, &Faults::waited, &Faults::read, &Faults::other})
    if (Status added = add(sum.*kind, more.*kind); !added) return added;
  for (auto number : {&Faults::minor, &Faults::major, &Faults::retried, &Faults::mapped_pages,
                      &Faults::under_vma_lock, &Faults::under_mmap_lock})
    add(sum.*number, more.*number);
  if (Status added = add(sum.around_pages, more.around_pages); !added) return added;
  keep_larger(sum.blocked_threads_max, more.blocked_threads_max);
  sum.blocked_threads_avg.reset();  // the lengths of the windows that it averages over are not known here
  add(sum.longest, more.longest);
  return {};
}

Status add(PageCache& sum, const PageCache& more) {
  for (auto number : {&PageCache::added_pages, &PageCache::used_pages, &PageCache::wasted_pages,
                      &PageCache::evicted_pages, &PageCache::refault_pages})
    add(sum.*number, more.*number);
  for (auto by : {&PageCache::by, &PageCache::wasted_by})
    for (auto number : {&PageCacheBy::fault, &PageCacheBy::readahead, &PageCacheBy::hint, &PageCacheBy::read,
                        &PageCacheBy::other})
      add((sum.*by).*number, (more.*by).*number);
  return add(sum.evicted_age_ns, more.evicted_age_ns);
}

void add(std::optional<std::map<std::uint32_t, Count>>& sum,
         const std::optional<std::map<std::uint32_t, Count>>& more) {
  if (!sum || !more) {
    sum.reset();
    return;
  }
  for (const auto& [order, windows] : *more) (*sum)[order] += windows;
}

Status add(Readahead& sum, const Readahead& more) {
  add(sum.sync, more.sync);
  add(sum.async, more.async);
  add(sum.orders, more.orders);
  keep_larger(sum.mmap_miss_max, more.mmap_miss_max);
  return add(sum.window_pages, more.window_pages);
}

Status add(BlockIo& sum, const BlockIo& more) {
  for (auto number : {&BlockIo::reads, &BlockIo::read_bytes, &BlockIo::unplaced})
    add(sum.*number, more.*number);
  for (auto distribution : {&BlockIo::lat_ns, &BlockIo::request_bytes, &BlockIo::queue_depth})
    if (Status added = add(sum.*distribution, more.*distribution); !added) return added;
  return {};
}

Status add(Reclaim& sum, const Reclaim& more) {
  for (auto number : {&Reclaim::direct_stalls, &Reclaim::cgroup_stalls, &Reclaim::reclaimed_pages,
                      &Reclaim::tlb_shootdowns, &Reclaim::swap_in_pages})
    add(sum.*number, more.*number);
  return add(sum.stall_ns, more.stall_ns);
}

Status add(Hints& sum, const Hints& more) {
  for (auto number : {&Hints::issued, &Hints::rejected, &Hints::suppressed, &Hints::in_time_pages,
                      &Hints::late_pages, &Hints::needless_pages, &Hints::useless_pages,
                      &Hints::truncated_pages, &Hints::suppressed_absent_pages})
    add(sum.*number, more.*number);
  return {};
}

Status add(TimeSplit& sum, const TimeSplit& more) {
  for (auto number :
       {&TimeSplit::running_s, &TimeSplit::fault_wait_s, &TimeSplit::read_wait_s, &TimeSplit::lock_wait_s})
    add(sum.*number, more.*number);
  return {};
}

void add(std::vector<LockHolder>& sum, const std::vector<LockHolder>& more) {
  for (const LockHolder& holder : more) {
    auto same = std::ranges::find_if(sum, [&](const LockHolder& known) {
      return known.thread == holder.thread && known.syscall == holder.syscall;
    });
    if (same == sum.end())
      sum.push_back(holder);
    else
      same->times += holder.times;
  }
  std::ranges::stable_sort(sum, std::greater(), &LockHolder::times);
}

Status add(MmapLock& sum, const MmapLock& more) {
  for (auto side : {&MmapLock::read, &MmapLock::write})
    if (Status added = add(sum.*side, more.*side); !added) return added;
  if (sum.holders && more.holders)
    add(*sum.holders, *more.holders);
  else
    sum.holders.reset();
  return {};
}

Status add(std::vector<SyscallCount>& sum, const std::vector<SyscallCount>& more) {
  for (const SyscallCount& entry : more) {
    auto same = std::ranges::find_if(sum, [&](const SyscallCount& known) {
      return known.name == entry.name && known.error == entry.error;
    });
    if (same == sum.end()) {
      sum.push_back(entry);
      continue;
    }
    same->calls += entry.calls;
    if (!same->lat_ns || !entry.lat_ns) continue;
    if (Status merged = same->lat_ns->merge(*entry.lat_ns); !merged) return merged;
  }
  return {};
}

Status add(std::vector<MadviseCount>& sum, const std::vector<MadviseCount>& more) {
  for (const MadviseCount& entry : more) {
    auto same = std::ranges::find_if(sum, [&](const MadviseCount& known) {
      return known.advice == entry.advice && known.error == entry.error;
    });
    if (same == sum.end()) {
      sum.push_back(entry);
      continue;
    }
    same->calls += entry.calls;
    same->misaligned += entry.misaligned;
    same->requested_bytes += entry.requested_bytes;
  }
  return {};
}

void add_stacks(std::vector<FaultStack>& sum, const std::vector<FaultStack>& more) {
  for (const FaultStack& stack : more) {
    auto same = std::ranges::find_if(sum, [&](const FaultStack& known) {
      return known.thread == stack.thread && known.user == stack.user && known.kernel == stack.kernel;
    });
    if (same == sum.end()) {
      sum.push_back(stack);
      continue;
    }
    same->faults += stack.faults;
    same->wait_ns += stack.wait_ns;
  }
  std::ranges::stable_sort(sum, std::ranges::greater(), &FaultStack::wait_ns);
}

void add(std::vector<ProbeStatus>& sum, const std::vector<ProbeStatus>& more) {
  for (const ProbeStatus& status : more) {
    auto same = std::ranges::find(sum, status.name, &ProbeStatus::name);
    if (same == sum.end()) {
      sum.push_back(status);
      continue;
    }
    same->lost += status.lost;
    same->unmatched += status.unmatched;
  }
}

template<typename Group> Status add_group(std::optional<Group>& sum, const std::optional<Group>& more) {
  if (!sum || !more) {
    sum.reset();
    return {};
  }
  return add(*sum, *more);
}

}

Status merge(ProbeReadings& sum, const ProbeReadings& more) {
  if (sum.probes.empty()) {  // nothing was added to it yet
    sum = more;
    return {};
  }
  if (Status added = add_group(sum.syscalls, more.syscalls); !added) return added;
  if (Status added = add_group(sum.madvise, more.madvise); !added) return added;
  if (Status added = add_group(sum.faults, more.faults); !added) return added;
  if (Status added = add_group(sum.page_cache, more.page_cache); !added) return added;
  if (Status added = add_group(sum.readahead, more.readahead); !added) return added;
  if (Status added = add_group(sum.mmap_lock, more.mmap_lock); !added) return added;
  if (Status added = add_group(sum.block_io, more.block_io); !added) return added;
  if (Status added = add_group(sum.reclaim, more.reclaim); !added) return added;
  if (Status added = add_group(sum.hints, more.hints); !added) return added;
  if (Status added = add_group(sum.time, more.time); !added) return added;
  if (sum.stacks && more.stacks) add_stacks(*sum.stacks, *more.stacks);
  if (sum.stacks_dropped && more.stacks_dropped) {
    sum.stacks_dropped->faults += more.stacks_dropped->faults;
    sum.stacks_dropped->wait_ns += more.stacks_dropped->wait_ns;
  }
  sum.unavailable.insert(more.unavailable.begin(), more.unavailable.end());
  add(sum.probes, more.probes);
  return {};
}

}
