#pragma once
// The JSON keys of a row's counters: the part of record_fields.h (which explains the lists) that grows with
// the probes.

#include <concepts>
#include <type_traits>

#include "analysis/run_record.h"

namespace iotrace {

// The struct, const when it is written and not when it is read.
template<typename T, typename Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto& field, Of<Rusage> auto& rusage) {
  field("major_faults", rusage.major_faults);
  field("minor_faults", rusage.minor_faults);
  field("user_s", rusage.user_s);
  field("system_s", rusage.system_s);
  field("ctx_voluntary", rusage.ctx_voluntary);
  field("ctx_involuntary", rusage.ctx_involuntary);
}

void fields(auto& field, Of<TimeSplit> auto& time) {
  field("running_s", time.running_s);
  field("fault_wait_s", time.fault_wait_s);
  field("read_wait_s", time.read_wait_s);
  field("lock_wait_s", time.lock_wait_s);
  field.may_lack("idle_s", time.idle_s);
}

void fields(auto& field, Of<SyscallCount> auto& syscall) {
  field("name", syscall.name);
  field("errno", syscall.error);
  field("calls", syscall.calls);
  field("lat_ns", syscall.lat_ns);
}

void fields(auto& field, Of<MadviseCount> auto& madvise) {
  field("advice", madvise.advice);
  field("errno", madvise.error);
  field("calls", madvise.calls);
  field("misaligned", madvise.misaligned);
  field("requested_bytes", madvise.requested_bytes);
}

void fields(auto& field, Of<Hints> auto& hints) {
  field("issued", hints.issued);
  field("rejected", hints.rejected);
  field("suppressed", hints.suppressed);
  field("in_time_pages", hints.in_time_pages);
  field("late_pages", hints.late_pages);
  field("needless_pages", hints.needless_pages);
  field("useless_pages", hints.useless_pages);
  field("truncated_pages", hints.truncated_pages);
  field.may_lack("suppressed_absent_pages", hints.suppressed_absent_pages);
}

void fields(auto& field, Of<FaultClass> auto& fault_class) {
  field("count", fault_class.count);
  field("lat_ns", fault_class.lat_ns);
}

void fields(auto& field, Of<LongFault> auto& fault) {
  field("latency_ns", fault.latency_ns);
  field("offset_bytes", fault.offset_bytes);
  field("tid", fault.tid);
  field.may_lack("thread", fault.thread);
  field("kind", fault.kind);
}

void fields(auto& field, Of<Faults> auto& faults) {
  field("mapped", faults.mapped);
  field("waited", faults.waited);
  field("read", faults.read);
  field("other", faults.other);
  field("minor", faults.minor);
  field("major", faults.major);
  field("retried", faults.retried);
  field.may_lack("mapped_pages", faults.mapped_pages);
  field.may_lack("around_pages", faults.around_pages);
  field("under_vma_lock", faults.under_vma_lock);
  field("under_mmap_lock", faults.under_mmap_lock);
  field("blocked_threads_avg", faults.blocked_threads_avg);
  field("blocked_threads_max", faults.blocked_threads_max);
  field("longest", faults.longest);
}

void fields(auto& field, Of<PageCacheBy> auto& by) {
  field("fault", by.fault);
  field("readahead", by.readahead);
  field("hint", by.hint);
  field("read", by.read);
  field("other", by.other);
}

void fields(auto& field, Of<PageCache> auto& page_cache) {
  field("added_pages", page_cache.added_pages);
  field("by", page_cache.by);
  field("used_pages", page_cache.used_pages);
  field("wasted_pages", page_cache.wasted_pages);
  field("evicted_pages", page_cache.evicted_pages);
  field("refault_pages", page_cache.refault_pages);
  field.may_lack("wasted_by", page_cache.wasted_by);
  field.may_lack("evicted_age_ns", page_cache.evicted_age_ns);
}

void fields(auto& field, Of<Readahead> auto& readahead) {
  field("sync", readahead.sync);
  field("async", readahead.async);
  field("window_pages", readahead.window_pages);
  field("orders", readahead.orders);
  field("mmap_miss_max", readahead.mmap_miss_max);
}

void fields(auto& field, Of<LockSide> auto& side) {
  field("acquired", side.acquired);
  field("contended", side.contended);
  field("wait_ns", side.wait_ns);
  field.may_lack("hold_ns", side.hold_ns);
  field.may_lack("slow_path", side.slow_path);
}

void fields(auto& field, Of<LockHolder> auto& holder) {
  field("thread", holder.thread);
  field("syscall", holder.syscall);
  field("times", holder.times);
}

void fields(auto& field, Of<MmapLock> auto& lock) {
  field("read", lock.read);
  field("write", lock.write);
  field("holders", lock.holders);
}

void fields(auto& field, Of<BlockIo> auto& io) {
  field("reads", io.reads);
  field("read_bytes", io.read_bytes);
  field("lat_ns", io.lat_ns);
  field("request_bytes", io.request_bytes);
  field("queue_depth", io.queue_depth);
  field("unplaced", io.unplaced);
}

void fields(auto& field, Of<Reclaim> auto& reclaim) {
  field("direct_stalls", reclaim.direct_stalls);
  field("cgroup_stalls", reclaim.cgroup_stalls);
  field("stall_ns", reclaim.stall_ns);
  field("reclaimed_pages", reclaim.reclaimed_pages);
  field("tlb_shootdowns", reclaim.tlb_shootdowns);
  field("swap_in_pages", reclaim.swap_in_pages);
}

}
