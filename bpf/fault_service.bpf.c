// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How many passes do faults on the followed mapping need, which windows around a fault are looked through for
// cached neighbours, and how many pages do faults map?
//
// Attaches to filemap:mm_filemap_fault (the file is asked, once in a pass) and mm_filemap_map_pages (a window
// was looked through and had pages to map), both since 6.12; before, by fentry to the functions that they
// stand in, filemap_fault and filemap_map_pages. The window of the function is seen whether or not it had
// pages to map. Mapped pages: fentry set_pte_range, one event per run of neighbours in a folio (since 6.6);
// before, do_set_pte, one per page.
//
// An event belongs to a fault if it is about the faulting page: mlock and MADV_POPULATE come here without
// one.
//
// Cost: 40 to 50 ns per window, so per warm fault; the same for each question to the file, beside its I/O.
//
// Can't see: passes given up before either event (a fault on private memory does so), and pages mapped by
// a huge entry of the page table, which no event tells.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_faults.bpf.h"
#include "bpf/fault_service.bpf.h"
#include "bpf/histogram.bpf.h"
#include "bpf/target.bpf.h"

// The thread, if it is in a fault of the target on the followed mapping.
static __always_inline struct thread_state* in_followed_fault(void) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct thread_state* thread = thread_state(task);
  return thread && thread->fault_ns && thread->fault_page != NO_PAGE ? thread : 0;
}

static __always_inline bool follows(__u64 mapping) {
  return cfg.many || mapping == followed_mapping;
}

// In attach it is the event that tells which page the fault is on.
static __always_inline void place_fault(__u64 mapping, __u64 first, __u64 last) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return;
  struct thread_state* thread = thread_state(task);
  if (!thread || !thread->fault_ns) return;
  if (first != last) {
    if (thread->fault_page == NO_PAGE)
      fault_is_on(task, thread, mapping, page_in_window(thread, first, last));
    use_pages(mapping, (struct page_range){first, last + 1}, PAGE_AROUND);
  } else if (thread->fault_service == SERVED_AROUND) {
    fault_is_on(task, thread, mapping, first);
  }
}

static __always_inline int file_asked(__u64 mapping, __u64 page) {
  if (cfg.many) place_fault(mapping, page, page);
  struct thread_state* thread = in_followed_fault();
  if (thread && thread->fault_page == page) asks_file(thread);
  return 0;
}

//   last  belongs to the window
static __always_inline int window_looked_through(__u64 mapping, __u64 first, __u64 last) {
  if (cfg.many) place_fault(mapping, first, last);
  struct thread_state* thread = in_followed_fault();
  if (!thread || thread->fault_page < first || thread->fault_page > last) return 0;
  looks_around(thread);
  histogram_add(HISTOGRAM_AROUND_PAGES, last - first + 1);
  return 0;
}

static __always_inline int pages_mapped(__u64 address, __u32 pages) {
  if (!cfg.many && address - target.mapping_address >= target.mapping_bytes) return 0;
  struct counters* c = my_counters();
  if (c && in_followed_fault()) c->faults.mapped_pages += pages;
  return 0;
}

SEC("?tp_btf/mm_filemap_fault")
int on_file_asked__tp_btf(__u64* ctx) {
  __u64 mapping = ctx[0], page = ctx[1];
  return follows(mapping) ? file_asked(mapping, page) : 0;
}

SEC("?raw_tp/mm_filemap_fault")
int on_file_asked__raw_tp(__u64* ctx) {
  __u64 mapping = ctx[0], page = ctx[1];
  return follows(mapping) ? file_asked(mapping, page) : 0;
}

SEC("?fentry/filemap_fault")
int on_file_asked__fentry(__u64* ctx) {
  const struct vm_fault* fault = (const void*)ctx[0];
  return file_asked((__u64)BPF_CORE_READ(fault, vma, vm_file, f_mapping), fault->pgoff);
}

SEC("?tp_btf/mm_filemap_map_pages")
int on_around__tp_btf(__u64* ctx) {
  __u64 mapping = ctx[0], first = ctx[1], last = ctx[2];
  return follows(mapping) ? window_looked_through(mapping, first, last) : 0;
}

SEC("?raw_tp/mm_filemap_map_pages")
int on_around__raw_tp(__u64* ctx) {
  __u64 mapping = ctx[0], first = ctx[1], last = ctx[2];
  return follows(mapping) ? window_looked_through(mapping, first, last) : 0;
}

SEC("?fentry/filemap_map_pages")
int on_around__fentry(__u64* ctx) {
  const struct vm_fault* fault = (const void*)ctx[0];
  __u64 first = ctx[1], last = ctx[2];
  return window_looked_through((__u64)BPF_CORE_READ(fault, vma, vm_file, f_mapping), first, last);
}

// (vmf, folio, page, nr, addr)
SEC("?fentry/set_pte_range")
int on_pages_mapped__fentry(__u64* ctx) {
  __u64 pages = ctx[3], address = ctx[4];
  return pages_mapped(address, pages);
}

// (vmf, page, addr), before 6.6
SEC("?fentry/do_set_pte")
int on_page_mapped__fentry(__u64* ctx) {
  return pages_mapped(ctx[2], 1);
}
