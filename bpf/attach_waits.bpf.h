// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What each thread of attach's targets has waited for.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_targets.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct thread_waits);
} thread_waits SEC(".maps");

enum wait_kind { WAIT_FAULT, WAIT_READ, WAIT_MMAP_LOCK, WAIT_FUTEX };

// Called where a wait ends, which is rare beside events.
static __always_inline void add_thread_wait(enum wait_kind kind, __u64 ns) {
  const struct task_struct* task = bpf_get_current_task_btf();
  __u32 tid = task->pid;
  struct thread_waits* waits = bpf_map_lookup_elem(&thread_waits, &tid);
  if (!waits) {
    struct thread_waits none = {.tgid = task->tgid, .first_ns = bpf_ktime_get_ns()};
    bpf_probe_read_kernel(none.name, sizeof(none.name), task->comm);
    bpf_map_update_elem(&thread_waits, &tid, &none, BPF_NOEXIST);
    waits = bpf_map_lookup_elem(&thread_waits, &tid);
    if (!waits) {
      struct attach_losses* losses = my_losses();
      if (losses && leave_out(tid)) losses->threads++;
      return;
    }
  }
  switch (kind) {
  case WAIT_FAULT:
    waits->faults++;
    waits->fault_ns += ns;
    break;
  case WAIT_READ: waits->read_ns += ns; break;
  case WAIT_MMAP_LOCK: waits->mmap_lock_ns += ns; break;
  case WAIT_FUTEX: waits->futex_ns += ns; break;
  }
}
