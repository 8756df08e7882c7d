// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Read calls of attach's targets by file: the descriptor leads to it.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_pages.bpf.h"
#include "bpf/attach_places.bpf.h"
#include "bpf/page_ranges.bpf.h"

static __always_inline void count_file_read(struct task_struct* task, __u64 call, __s64 result,
                                            __u64 duration) {
  switch (call) {
  case CALL_READ:
  case CALL_READV:
  case CALL_PREAD64:
  case CALL_PREADV:
  case CALL_PREADV2: break;
  default: return;
  }
  if (result <= 0) return;
  const struct pt_regs* regs = entry_registers(task);
  struct file* open = file_of(task, syscall_argument(regs, 0));
  if (!open) return;
  __u64 mapping = (__u64)BPF_CORE_READ(open, f_mapping);
  struct file_stats* file = file_of_target(mapping);
  struct thread_place* place = thread_place(task);
  if (!file || !place) return;
  file_histogram_add(&file->reads, duration);
  add_to(&file->read_bytes, result);

  struct page_range range = asked_for(task, call, result);
  range.end = range.first + ((result + (1ull << cfg.page_shift) - 1) >> cfg.page_shift);
  use_pages(mapping, range, PAGE_TOUCHED);
  count_order_of_access(place, file, mapping, range);
}
