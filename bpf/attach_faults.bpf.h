// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A fault of attach's targets by file. Which file a fault is on, the kernel's own events tell: it looks
// around the faulting page in the page cache (mm_filemap_map_pages), or asks the file (mm_filemap_fault). No
// table of mappings is needed, and mmap_lock is not touched.
//
// Can't see: faults on pages of a file that neither event is about, as a write to a page that is mapped
// read-only.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_pages.bpf.h"
#include "bpf/attach_places.bpf.h"
#include "bpf/target.bpf.h"

static __always_inline void fault_is_on_no_file(const struct task_struct* task) {
  struct thread_place* place = thread_place(task);
  if (place) place->fault_mapping = 0;
}

// 0: not known.
static __always_inline __u64 fault_mapping(const struct task_struct* task) {
  struct thread_place* place = thread_place(task);
  return place ? place->fault_mapping : 0;
}

static __always_inline void fault_is_on(const struct task_struct* task, struct thread_state* thread,
                                        __u64 mapping, __u64 page) {
  struct thread_place* place = thread_place(task);
  if (!place) return;
  place->fault_mapping = mapping;
  thread->fault_page = page;
}

// The faulting page in a window around it. The window begins at a multiple of its size in the address space,
// but where the mapping begins later: there the page told may be up to 15 too high.
static __always_inline __u64 page_in_window(const struct thread_state* thread, __u64 first, __u64 last) {
  __u64 behind = thread->fault_address >> cfg.page_shift & 15;
  return first + behind < last ? first + behind : last;
}

static __always_inline void count_file_fault(const struct task_struct* task,
                                             const struct thread_state* thread, enum fault_kind kind,
                                             __u64 duration, bool major) {
  if (kind >= FAULT_OTHER) return;
  struct thread_place* place = thread_place(task);
  if (!place) return;
  __u64 mapping = place->fault_mapping;
  struct file_stats* file = file_of_target(mapping);
  if (!file) return;
  if (kind == FAULT_MAPPED)
    file_histogram_add(&file->faults[FAULT_MAPPED], duration);
  else if (kind == FAULT_WAITED)
    file_histogram_add(&file->faults[FAULT_WAITED], duration);
  else
    file_histogram_add(&file->faults[FAULT_READ], duration);
  add_to(major ? &file->major : &file->minor, 1);
  add_to(thread->lock_held ? &file->under_mmap_lock : &file->under_vma_lock, 1);

  __u64 page = thread->fault_page;
  if (kind == FAULT_WAITED && waits_for_hinted(mapping, page)) add_to(&file->late, 1);
  use_page(mapping, page, PAGE_TOUCHED);
  count_order_of_access(place, file, mapping, (struct page_range){page, page + 1});
}
