#pragma once
// The JSON keys of what `attach` adds to a record: the part of record_fields.h (which explains the lists) for
// targets, files, threads and intervals.

#include "analysis/counter_fields.h"
#include "analysis/log_fields.h"

namespace iotrace {

void fields(auto& field, Of<WatchedProcess> auto& process) {
  field("pid", process.pid);
  field("name", process.name);
  field("ended", process.ended);
}

void fields(auto& field, Of<AttachTarget> auto& target) {
  field("asked", target.asked);
  field("processes", target.processes);
  field("seconds", target.seconds);
  field("observer_cpu_ratio", target.observer_cpu_ratio);
  field("observer_timed_s", target.observer_timed_s);
  field("notes", target.notes);
  field("files_left_out", target.files_left_out);
  field("threads_left_out", target.threads_left_out);
  field("expect_hints", target.expect_hints);
}

void fields(auto& field, Of<AdviceInForce> auto& advice) {
  field("advice", advice.advice);
  field("bytes", advice.bytes);
}

void fields(auto& field, Of<FileReads> auto& reads) {
  field("calls", reads.calls);
  field("bytes", reads.bytes);
  field("lat_ns", reads.lat_ns);
}

void fields(auto& field, Of<AccessOrder> auto& order) {
  field("in_order", order.in_order);
  field("out_of_order", order.out_of_order);
}

void fields(auto& field, Of<AttachedFile> auto& file) {
  field("path", file.path);
  field("extension", file.extension);
  field("deleted", file.deleted);
  field("device", file.device);
  field("inode", file.inode);
  field("size_bytes", file.size_bytes);
  field("mapped_bytes", file.mapped_bytes);
  field("resident_bytes", file.resident_bytes);
  field("advice", file.advice);
  field("faults", file.faults);
  field("page_cache", file.page_cache);
  field("wasted_least_pages", file.wasted_least_pages);
  field("wasted_most_pages", file.wasted_most_pages);
  field("hints", file.hints);
  field.may_lack("hint_errors", file.hint_errors);
  field("block_io", file.block_io);
  field("reads", file.reads);
  field("order", file.order);
  field("unavailable", file.unavailable);
}

void fields(auto& field, Of<AttachedThread> auto& thread) {
  field("pid", thread.pid);
  field("tid", thread.tid);
  field("name", thread.name);
  field("seconds", thread.seconds);
  field("faults", thread.faults);
  field("fault_wait_s", thread.fault_wait_s);
  field("read_wait_s", thread.read_wait_s);
  field("mmap_lock_wait_s", thread.mmap_lock_wait_s);
  field("futex_wait_s", thread.futex_wait_s);
}

void fields(auto& field, Of<Totals> auto& totals) {
  field("time", totals.time);
  field("syscalls", totals.syscalls);
  field("madvise", totals.madvise);
  field("hints", totals.hints);
  field("faults", totals.faults);
  field("page_cache", totals.page_cache);
  field("readahead", totals.readahead);
  field("mmap_lock", totals.mmap_lock);
  field("block_io", totals.block_io);
  field("reclaim", totals.reclaim);
  field("unavailable", totals.unavailable);
  field("probes", totals.probes);
  field.may_lack("stacks", totals.stacks);
  field.may_lack("stacks_dropped", totals.stacks_dropped);
  field.may_lack("events_window_s", totals.events_window_s);
  field.may_lack("events", totals.events);
  field.may_lack("events_dropped", totals.events_dropped);
}

void fields(auto& field, Of<Interval> auto& interval) {
  field("begin_s", interval.begin_s);
  field("seconds", interval.seconds);
  field("faults", interval.faults);
  field("waiting_faults", interval.waiting_faults);
  field("added_pages", interval.added_pages);
  field("evicted_pages", interval.evicted_pages);
  field("refault_pages", interval.refault_pages);
  field("hints", interval.hints);
  field("hints_rejected", interval.hints_rejected);
  field("reads", interval.reads);
  field("device_read_bytes", interval.device_read_bytes);
  field("fault_wait_s", interval.fault_wait_s);
  field("read_wait_s", interval.read_wait_s);
  field("lock_wait_s", interval.lock_wait_s);
}

}
