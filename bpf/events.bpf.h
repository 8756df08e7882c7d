// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A bounded log of single events, for a timeline: faults on files, hints, read calls, reads of the device.
// With --window alone: those that began in the first cfg.window_ns after the attach.
//
// The ring is read when all is over, so it holds what came first, and what found no room is counted. So
// neither a burst nor a slow reader leaves holes in the middle.
//
// Cost: about 0.2 us per fault or call; about 4 us per read of the device, whose asker is looked up three
// times in cold caches.
//
// Can't see: faults on no file; which file a hint at an address is for (the loader looks it up, without
// mmap_lock); who asked for a request that a device-mapper target made anew.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/log_contract.h"
#include "bpf/page_ranges.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"

enum { BPF_RB_NO_WAKEUP = 1 };  // include/uapi/linux/bpf.h

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);  // the loader gives it room where it is wanted
} events SEC(".maps");

__u64 window_begins;   // CLOCK_MONOTONIC, set when the probes are attached
__u64 events_dropped;  // of all CPUs

static __always_inline bool in_window(__u64 begin_ns) {
  return begin_ns - window_begins < cfg.window_ns;  // wraps for what began before
}

static __always_inline void log_event(struct event* event) {
  if (bpf_ringbuf_output(&events, event, sizeof(*event), BPF_RB_NO_WAKEUP))
    __sync_fetch_and_add(&events_dropped, 1);
}

static __always_inline void log_own_event(const struct task_struct* task, struct event* event) {
  event->tgid = task->tgid;
  event->tid = task->pid;
  bpf_probe_read_kernel(event->thread, sizeof(event->thread), task->comm);
  log_event(event);
}

static __always_inline void log_fault(const struct task_struct* task, const struct thread_state* thread,
                                      enum fault_kind kind, __u64 mapping, __u64 duration) {
  if (kind == FAULT_OTHER || !in_window(thread->fault_ns)) return;
  struct event event = {.begin_ns = thread->fault_ns,
                        .duration_ns = duration,
                        .mapping = mapping,
                        .at = thread->fault_page << cfg.page_shift,
                        .bytes = 1ull << cfg.page_shift,
                        .kind = EVENT_FAULT,
                        .detail = kind,
                        .advice = NO_ADVICE};
  log_own_event(task, &event);
}

// The address_space behind a descriptor, 0: of no regular file.
static __always_inline __u64 regular_file(struct task_struct* task, __u64 fd) {
  struct file* file = file_of(task, fd);
  if (!file) return 0;
  if ((BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE_MASK) != REGULAR_FILE) return 0;
  return (__u64)BPF_CORE_READ(file, f_mapping);
}

// Fills in what the call was for. False: it is no event.
static __always_inline bool describe_call(struct event* event, struct task_struct* task, __u64 call,
                                          __s64 result) {
  const struct pt_regs* regs = entry_registers(task);
  __u64 first = syscall_argument(regs, 0), second = syscall_argument(regs, 1);
  __u64 third = syscall_argument(regs, 2), fourth = syscall_argument(regs, 3);
  __u64 moved = result > 0 ? result : 0;
  event->kind = EVENT_HINT;
  event->detail = call;
  switch (call) {
  case CALL_MADVISE:
    event->at = first;
    event->address = 1;
    event->bytes = second;
    event->advice = third;
    return true;
  case CALL_PROCESS_MADVISE:
    event->at = NOT_KNOWN;
    event->bytes = moved;
    event->advice = fourth;
    return true;
  case CALL_FADVISE64: event->advice = fourth; __attribute__((fallthrough));
  case CALL_READAHEAD:
    event->mapping = regular_file(task, first);
    event->at = second;
    event->bytes = third;
    return true;
  case CALL_READ:
  case CALL_READV: event->at = file_position(task, first, moved); break;
  case CALL_PREAD64:
  case CALL_PREADV: event->at = fourth; break;
  case CALL_PREADV2: event->at = fourth == ~0ull ? file_position(task, first, moved) : fourth; break;
  default: return false;
  }
  event->kind = EVENT_READ;
  event->bytes = moved;
  event->mapping = regular_file(task, first);
  return event->mapping != 0;
}

static __always_inline void log_call(struct task_struct* task, const struct thread_state* thread, __u64 call,
                                     __s64 result, __u64 duration) {
  if (!in_window(thread->call_ns)) return;
  struct event event = {.begin_ns = thread->call_ns, .duration_ns = duration, .advice = NO_ADVICE};
  if (result < 0 && result >= -4095) event.error = -result;
  if (describe_call(&event, task, call, result)) log_own_event(task, &event);
}
