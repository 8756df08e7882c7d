// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How long do the target's page faults take, and what happens in them: is the page mapped from the cache,
// does it wait for I/O that is already under way, or does the fault itself bring it in from the device?
//
// Start: exceptions:page_fault_user and page_fault_kernel, which x86 alone has; elsewhere the perf software
// event PAGE_FAULTS, at the same place. End: the perf software events MIN and MAJ, which the kernel raises as
// the last thing of a completed fault, once however often it was retried, before it lets go of mmap_lock.
// Start and end carry the same address.
//
// What happened is decided by what was seen, not by the kernel's minor/major (a wait for readahead in flight
// is major up to 6.6 and minor from 6.7) and not by latency:
//   read    the page that faulted entered the cache during the fault, by this thread (page_cache.bpf.c)
//   waited  else, if the thread slept for anything but mmap_lock (mmap_lock.bpf.c)
//   mapped  else
//
// Of a fault that the file had to serve (fault_service.bpf.h) its passes are counted and how many threads
// were in such faults when it ended; the longest faults are kept (long_faults.bpf.h).
//
// Cost: about 200 ns per fault more than two empty programs, 300 where it waits for I/O; the first clock read
// after the exception is the dearest part.
//
// Can't see: pages that the kernel pins without a fault (O_DIRECT buffers, MADV_POPULATE, mlock); the ends of
// faults that fail (SIGBUS). A start without an end is normal for copies that give up at a missing page.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_faults.bpf.h"
#include "bpf/events.bpf.h"
#include "bpf/fault_service.bpf.h"
#include "bpf/fault_stacks.bpf.h"
#include "bpf/histogram.bpf.h"
#include "bpf/long_faults.bpf.h"
#include "bpf/page_ledger.bpf.h"
#include "bpf/target.bpf.h"

static __always_inline int fault_starts(__u64 address, bool in_kernel) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct thread_state* thread = thread_state(task);
  if (!thread) return 0;
  if (thread->fault_ns) {
    struct counters* c = my_counters();
    if (c) c->faults.abandoned++;
    if (thread->fault_service != SERVED_AROUND) leaves_file(thread);
  }

  __u64 offset = address - target.mapping_address;
  thread->fault_page = offset < target.mapping_bytes ? offset >> cfg.page_shift : NO_PAGE;
  if (cfg.many) fault_is_on_no_file(task);  // until an event tells which
  thread->fault_address = address;
  thread->fault_sleeps = task->nvcsw;
  thread->fault_in_kernel = in_kernel;
  thread->fault_brought = 0;
  thread->fault_retries = 0;
  // No thread enters a fault that will complete while it holds its mmap_lock.
  thread->lock_held = 0;
  thread->lock_refused = 0;
  thread->lock_sleeps = 0;
  thread->fault_waited_ns = thread->waited_ns;
  thread->fault_ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline enum fault_kind kind_of_fault(const struct task_struct* task,
                                                     const struct thread_state* thread, bool major) {
  if (thread->fault_page == NO_PAGE) return FAULT_OTHER;
  if (thread->fault_brought) return FAULT_READ;
  __u64 slept = task->nvcsw - thread->fault_sleeps;
  if (slept > thread->lock_sleeps && (major || !cfg.waited_needs_major)) return FAULT_WAITED;
  return FAULT_MAPPED;
}

//   ctx  the program's own, for its stacks
static __always_inline int fault_ends(void* ctx, __u64 address, bool major) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct cpu_counters* mine = my_cpu();
  struct thread_state* thread = thread_state(task);
  if (!mine || !thread) return 0;
  struct counters* c = &mine->sums;

  if (major)
    c->faults.major++;
  else
    c->faults.minor++;

  if (!thread->fault_ns || thread->fault_address != address) {
    c->faults.unmatched++;
    return 0;
  }
  enum fault_kind kind = kind_of_fault(task, thread, major);
  if (kind != FAULT_OTHER) {
    if (thread->lock_held)
      c->faults.under_mmap_lock++;
    else
      c->faults.under_vma_lock++;
  }
  __u64 duration = bpf_ktime_get_ns() - thread->fault_ns;
  histogram_add(HISTOGRAM_FAULTS + kind, duration);
  if (cfg.window_ns)
    log_fault(task, thread, kind, cfg.many ? fault_mapping(task) : followed_mapping, duration);
  bool waited = kind == FAULT_WAITED || kind == FAULT_READ;
  if (waited) {
    __u64 net = add_wait(thread, WAIT_FAULT, &c->waits.fault_ns, duration, thread->fault_waited_ns);
    if (cfg.stacks) keep_stack(ctx, task, thread, net);
  }
  if (cfg.many)
    count_file_fault(task, thread, kind, duration, major);
  else if (kind == FAULT_WAITED)
    page_waited_for(c, thread->fault_page);
  if (thread->fault_service != SERVED_AROUND) {
    c->faults.retried += passes_beside_first(thread);
    __u64 threads = leaves_file(thread);
    if (waited && threads > mine->longest.most_blocked) mine->longest.most_blocked = threads;
  }
  if (duration > mine->longest.least)
    keep_long_fault(&mine->longest, (struct long_fault){.ns = duration,
                                                        .page = thread->fault_page,
                                                        .tid = thread_id(thread),
                                                        .kind = kind,
                                                        .mapping = cfg.many ? fault_mapping(task) : 0});
  thread->fault_ns = 0;
  return 0;
}

SEC("?tp_btf/page_fault_user")
int on_user_fault__tp_btf(__u64* ctx) {
  return fault_starts(ctx[0], false);
}

SEC("?tp_btf/page_fault_kernel")
int on_kernel_fault__tp_btf(__u64* ctx) {
  return fault_starts(ctx[0], true);
}

SEC("?raw_tp/page_fault_user")
int on_user_fault__raw_tp(__u64* ctx) {
  return fault_starts(ctx[0], false);
}

SEC("?raw_tp/page_fault_kernel")
int on_kernel_fault__raw_tp(__u64* ctx) {
  return fault_starts(ctx[0], true);
}

SEC("?perf_event")
int on_fault__perf(struct bpf_perf_event_data* ctx) {
  bool in_kernel = ctx->regs[USER_IP] >> 63;
  return fault_starts(ctx->addr, in_kernel);
}

SEC("?perf_event")
int on_minor_fault__perf(struct bpf_perf_event_data* ctx) {
  return fault_ends(ctx, ctx->addr, false);
}

SEC("?perf_event")
int on_major_fault__perf(struct bpf_perf_event_data* ctx) {
  return fault_ends(ctx, ctx->addr, true);
}
