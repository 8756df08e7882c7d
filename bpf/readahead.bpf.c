// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which windows of the followed file does the kernel decide to read ahead for the target: how large, in
// folios of what order, at a missing page or at the mark that the window before has left?
//
// Attaches to page_cache_ra_order, which every window goes through, whether it is made of large folios or (by
// falling back to page_cache_ra_unbounded) of single pages, and to page_cache_async_ra, which goes before a
// window that a mark has started. Both are tracepoints since 6.18 and functions (fentry) before.
//
// Hints and reads under POSIX_FADV_RANDOM, for which the kernel reads no more than it was told, go straight
// to page_cache_ra_unbounded; so does the first read at a place that follows no other. They are no windows.
//
// page_cache_async_ra may give up without a window, so that it was there is not enough: a window that a mark
// has started is all asynchronous, and one at a missing page never is.
//
// Cost, empty programs included: about 1.2 us per window and 0.7 us per mark, in caches that a wait for I/O
// has left cold. No page costs anything.
//
// Can't see: that a window is cut at the end of the file, or where its pages are in the cache already
// (page_cache counts what entered); the order that the file system allows, where it is below the one asked
// for; misses of a mapping after the kernel has given up reading around.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/core_fixes.bpf.h"
#include "bpf/histogram.bpf.h"
#include "bpf/target.bpf.h"

enum { READAHEAD_ORDERS = 16 };

static __always_inline struct thread_state* reader_of(__u64 mapping) {
  if (cfg.many ? !known_file(mapping) : mapping != followed_mapping) return 0;
  const struct task_struct* task = bpf_get_current_task_btf();
  return counted_work(task) ? thread_state(task) : 0;
}

static __always_inline int mark_met(__u64 mapping) {
  struct thread_state* thread = reader_of(mapping);
  if (thread) thread->at_readahead_mark = 1;
  return 0;
}

static __always_inline int window_read(__u64 mapping, const struct file_ra_state* state, __u64 order) {
  struct thread_state* thread = reader_of(mapping);
  struct counters* c = my_counters();
  if (!thread || !c) return 0;
  __u32 size = BPF_CORE_READ(state, size);
  if (thread->at_readahead_mark && BPF_CORE_READ(state, async_size) == size)
    c->readahead.async++;
  else
    c->readahead.sync++;
  thread->at_readahead_mark = 0;
  histogram_add(HISTOGRAM_READAHEAD_PAGES, size);
  barrier_var(order);
  c->readahead.orders[order & (READAHEAD_ORDERS - 1)]++;
  __u64 misses = mmap_misses(state);
  if (misses > c->readahead.mmap_miss_max) c->readahead.mmap_miss_max = misses;
  return 0;
}

// (inode, index, state, pages asked for)
SEC("?tp_btf/page_cache_async_ra")
int on_readahead_mark__tp_btf(__u64* ctx) {
  const struct inode* inode = (const struct inode*)ctx[0];
  return mark_met((__u64)inode->i_mapping);
}

// (inode, index, state)
SEC("?tp_btf/page_cache_ra_order")
int on_readahead_window__tp_btf(__u64* ctx) {
  const struct inode* inode = (const struct inode*)ctx[0];
  const struct file_ra_state___since_6_17* state = (const void*)ctx[2];
  return window_read((__u64)inode->i_mapping, (const void*)state, BPF_CORE_READ(state, order));
}

// (control, folio, pages asked for)
SEC("?fentry/page_cache_async_ra")
int on_readahead_mark__fentry(__u64* ctx) {
  const struct readahead_control* control = (const struct readahead_control*)ctx[0];
  return mark_met((__u64)control->mapping);
}

// (control, state, order), before 6.17
SEC("?fentry/page_cache_ra_order")
int on_readahead_window__fentry(__u64* ctx) {
  const struct readahead_control* control = (const struct readahead_control*)ctx[0];
  const struct file_ra_state* state = (const struct file_ra_state*)ctx[1];
  return window_read((__u64)control->mapping, state, (__u32)ctx[2]);
}
