// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Where in the kernel does a thread of the target go to sleep in a page fault? With --stacks alone.
//
// Attaches to sched:sched_switch (preempted, previous, next, its state; the first two stand there since
// 4.14), which fires for every switch of the machine, in the thread that leaves the CPU.
//
// Cost: the filter for everybody else's switches; for the first sleep of a fault the walk of its kernel
// stack.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/fault_stacks.bpf.h"
#include "bpf/target.bpf.h"

static __always_inline int thread_leaves(void* ctx, bool preempted, const struct task_struct* task) {
  if (!cfg.stacks || preempted || !counted_work(task)) return 0;
  const struct thread_state* thread = thread_state(task);
  if (!thread || !thread->fault_ns || thread->lock_ns) return 0;
  struct fault_sleep* sleep = fault_sleep(task);
  if (!sleep || sleep->fault_ns == thread->fault_ns) return 0;
  sleep->stack = bpf_get_stackid(ctx, &stacks, 0);
  sleep->fault_ns = thread->fault_ns;
  return 0;
}

SEC("?tp_btf/sched_switch")
int on_sleep__tp_btf(__u64* ctx) {
  bool preempted = ctx[0];
  const struct task_struct* task = (const void*)ctx[1];
  return thread_leaves(ctx, preempted, task);
}
