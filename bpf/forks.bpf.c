// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The children of attach's targets become targets themselves.
//
// Attaches to sched:sched_process_fork(parent, child), which fires for new threads as well.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_targets.bpf.h"

SEC("?tp_btf/sched_process_fork")
int on_fork__tp_btf(__u64* ctx) {
  const struct task_struct* parent = (const void*)ctx[0];
  const struct task_struct* child = (const void*)ctx[1];
  if (parent->tgid != child->tgid && is_target(parent->tgid)) add_target(child->tgid, parent->tgid);
  return 0;
}
