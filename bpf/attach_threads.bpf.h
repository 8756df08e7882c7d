// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Attach's tables by thread: what each has waited for, and where its last access to a file ended.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/target.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct thread_waits);
} thread_waits SEC(".maps");

enum wait_kind { WAIT_FAULT, WAIT_READ, WAIT_MMAP_LOCK, WAIT_FUTEX };

// Called where a wait ends, which is rare beside events.
static __always_inline void add_thread_wait(const struct task_struct* task, enum wait_kind kind, __u64 ns) {
  __u32 tid = task->pid;
  struct thread_waits* waits = bpf_map_lookup_elem(&thread_waits, &tid);
  if (!waits) {
    struct thread_waits none = {.tgid = task->tgid, .first_ns = bpf_ktime_get_ns()};
    bpf_probe_read_kernel(none.name, sizeof(none.name), task->comm);
    bpf_map_update_elem(&thread_waits, &tid, &none, BPF_NOEXIST);
    waits = bpf_map_lookup_elem(&thread_waits, &tid);
    if (!waits) {
      struct attach_losses* losses = my_losses();
      if (losses) losses->threads++;
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

// ---- where a thread is in files
// ---------------------------------------------------------------------------- Beside thread_state, by the
// same slots.

struct thread_place {
  __u64 fault_mapping;  // of the fault under way, 0: not known (yet)
  __u64 last_mapping;   // of the last access
  __u64 last_end;       // the page behind it
  __u64 reserved;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct thread_place);
} thread_places SEC(".maps");

static __always_inline struct thread_place* thread_place(const struct task_struct* task) {
  __u32 slot = task->pid & (THREAD_SLOTS - 1);
  return bpf_map_lookup_elem(&thread_places, &slot);
}

// How far behind the last access the next one in order may begin: read-ahead and fault-around hide what
// lies between.
enum { IN_ORDER_PAGES = 64 };

static __always_inline void count_order_of_access(struct thread_place* place, struct file_stats* file,
                                                  __u64 mapping, struct page_range range) {
  if (place->last_mapping == mapping) {
    __u64 ahead = range.first - (place->last_end - 1);  // wraps where it lies before
    if (ahead <= IN_ORDER_PAGES)
      add_to(&file->in_order, 1);
    else
      add_to(&file->out_of_order, 1);
  }
  place->last_mapping = mapping;
  place->last_end = range.end;
}
