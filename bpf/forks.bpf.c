// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The children of attach's targets become targets themselves, and a target that has ended is none any more,
// before its number can be given to another process.
//
// Attaches to sched:sched_process_fork(parent, child), which fires for new threads as well, and
// sched:sched_process_exit(task), which fires for each thread; signal->live is 0 from the last one on.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_targets.bpf.h"

SEC("?tp_btf/sched_process_fork")
int on_fork__tp_btf(__u64* ctx) {
  const struct task_struct* parent = (const void*)ctx[0];
  const struct task_struct* child = (const void*)ctx[1];
  if (parent->tgid != child->tgid && is_target(parent->tgid)) add_target(child->tgid, parent->tgid);
  return 0;
}

SEC("?tp_btf/sched_process_exit")
int on_exit__tp_btf(__u64* ctx) {
  const struct task_struct* task = (const void*)ctx[0];
  if (is_target(task->tgid) && BPF_CORE_READ(task, signal, live.counter) == 0) forget_target(task->tgid);
  return 0;
}
