// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Where each thread of attach's targets is in files: which one its fault is on, and where its last access
// ended. Beside thread_state, by the same slots.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/page_ranges.bpf.h"

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
  __u32 slot = task->pid & (THREAD_PLACES - 1);
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
