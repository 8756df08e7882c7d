// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What became of each hint on the followed file: how many of its pages were in the cache already (needless),
// and how many did the kernel leave out (truncated)? And did a read have to wait for what a hint had begun to
// bring (late; for faults see faults.bpf.c)?
//
// Looked at when the call returns. All ways of hinting end in the kernel's force_page_cache_ra(), which takes
// a range of pages, cuts it to the larger of the device's best request (bdi->io_pages) and the readahead of
// the open file (file->f_ra.ra_pages), leaves out what lies behind the end of the file, and adds what is
// absent. So, with `added` by page_cache.bpf.c:
//   truncated = pages of the range, in the file, beyond the limit
//   needless  = the other pages of the range - added
// A vector's elements are calls of their own there.
//
// Cost: some ten reads of the kernel's structures per hint (not measured alone: a row of hints with all
// probes keeps 0.93 of its throughput); nothing for other calls but reads that slept, each of whose pages is
// looked up.
//
// Can't see: the open file behind a mapping, whose readahead is taken to be that of the device (it is twice
// as much after POSIX_FADV_SEQUENTIAL on its descriptor); the limit is each mapping's own where one call
// spans several; pages that the kernel found no memory for count as needless. Hints through io_uring make no
// system call.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/page_ledger.bpf.h"
#include "bpf/page_ranges.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"

enum {
  ADVICE_WILLNEED = 3,           // of madvise and fadvise64 alike
  HINT_ELEMENTS = 64,            // of a vector, more are not looked at
  MOST_PAGES_WAITED_FOR = 4096,  // in one read, 16 MiB
};

struct hint {
  __u64 mapping;             // the address_space of the file that counts
  __u64 map_start, map_end;  // addresses at which it is mapped,
  __u64 map_page;            // from this page on
  __u64 device_limit;        // pages of the device's best request
  __u64 limit;               // pages that the kernel reads for one call at most
  __u64 file_end;            // pages of the file
  __u64 tried, truncated;
  bool on_file;  // the call was for that file
  // process_madvise
  const struct iovec* elements;
  __u64 bytes_left;  // of those that the kernel came to
};

static __always_inline void try_pages(struct hint* hint, struct page_range range) {
  hint->on_file = true;
  if (range.end > hint->file_end) range.end = hint->file_end;
  if (range.first >= range.end) return;
  __u64 pages = range.end - range.first;
  __u64 tried = pages < hint->limit ? pages : hint->limit;
  hint->tried += tried;
  hint->truncated += pages - tried;
}

// The part of [address, address + bytes) in which the file is mapped.
static __always_inline void try_addresses(struct hint* hint, __u64 address, __u64 bytes) {
  __u64 end = address + bytes;
  if (address < hint->map_start) address = hint->map_start;
  if (end > hint->map_end) end = hint->map_end;
  if (address >= end) return;
  struct page_range range = pages_of(address - hint->map_start, end - address);
  try_pages(hint, (struct page_range){range.first + hint->map_page, range.end + hint->map_page});
}

static long next_element(__u32 index, struct hint* hint) {
  struct iovec element = {};
  if (!hint->bytes_left || bpf_probe_read_user(&element, sizeof(element), hint->elements + index)) return 1;
  __u64 bytes = element.iov_len < hint->bytes_left ? element.iov_len : hint->bytes_left;
  hint->bytes_left -= bytes;
  try_addresses(hint, (__u64)element.iov_base, bytes);
  return 0;
}

// A descriptor that the call accepted means the caller itself: by its process, or by a number below 0
// (PIDFD_SELF, since 6.14). The process was private_data of the open file before 6.9, and is i_private of its
// inode since.
static __always_inline bool means_self(struct task_struct* task, __s32 pidfd) {
  if (pidfd < 0) return true;
  struct file* file = file_of(task, pidfd);
  if (!file) return false;
  void* process = BPF_CORE_READ(file, f_inode, i_private);
  if (!process) process = BPF_CORE_READ(file, private_data);
  return process == (void*)BPF_CORE_READ(task, group_leader, thread_pid);
}

static __always_inline void limit_by(struct hint* hint, __u64 readahead) {
  hint->limit = hint->device_limit > readahead ? hint->device_limit : readahead;
}

// For calls that take a descriptor, an offset and a length, of which 0 means to the end.
static __always_inline void try_file(struct hint* hint, struct task_struct* task,
                                     const struct pt_regs* regs) {
  struct file* file = file_of(task, syscall_argument(regs, 0));
  if (!file || (__u64)BPF_CORE_READ(file, f_mapping) != hint->mapping) return;
  limit_by(hint, BPF_CORE_READ(file, f_ra.ra_pages));
  __u64 offset = syscall_argument(regs, 1), bytes = syscall_argument(regs, 2);
  struct page_range range = pages_of(offset, bytes);
  if (!bytes || offset + bytes < bytes) range.end = hint->file_end;
  try_pages(hint, range);
}

static __always_inline bool is_hint(__u64 call, const struct pt_regs* regs) {
  switch (call) {
  case CALL_MADVISE: return (__u32)syscall_argument(regs, 2) == ADVICE_WILLNEED;
  case CALL_PROCESS_MADVISE:
  case CALL_FADVISE64: return (__u32)syscall_argument(regs, 3) == ADVICE_WILLNEED;
  default: return call == CALL_READAHEAD;
  }
}

// The pages of a hint that the kernel accepted.
static __always_inline void try_call(struct hint* hint, struct task_struct* task, const struct pt_regs* regs,
                                     __u64 call, __u64 result) {
  if (call == CALL_MADVISE) {
    try_addresses(hint, syscall_argument(regs, 0), syscall_argument(regs, 1));
  } else if (call == CALL_PROCESS_MADVISE) {
    __u64 elements = syscall_argument(regs, 2);
    if (elements <= HINT_ELEMENTS && means_self(task, syscall_argument(regs, 0))) {
      hint->elements = (const struct iovec*)syscall_argument(regs, 1);
      hint->bytes_left = result;
      bpf_loop(elements, next_element, hint, 0);
    }
  } else {
    try_file(hint, task, regs);
  }
}

static __always_inline __u64 needless_pages(const struct hint* hint, const struct thread_state* thread) {
  return hint->tried > thread->call_added ? hint->tried - thread->call_added : 0;
}

static __always_inline void count_pages_of_hint(struct counters* c, struct task_struct* task,
                                                const struct thread_state* thread, __u64 call, __u64 result) {
  const struct pt_regs* regs = entry_registers(task);
  if (!is_hint(call, regs)) return;
  struct backing_dev_info* device = (struct backing_dev_info*)followed_device;
  struct hint hint = {.mapping = followed_mapping,
                      .map_start = target.mapping_address,
                      .map_end = target.mapping_address + target.mapping_bytes,
                      .device_limit = BPF_CORE_READ(device, io_pages),
                      .file_end = pages_of(0, BPF_CORE_READ((struct inode*)followed_inode, i_size)).end};
  limit_by(&hint, BPF_CORE_READ(device, ra_pages));
  try_call(&hint, task, regs, call, result);
  if (!hint.on_file) {
    c->hints.unplaced += thread->call_added != 0;
    return;
  }
  c->hints.truncated += hint.truncated;
  c->hints.needless += needless_pages(&hint, thread);
}

struct waited_pages {
  struct counters* c;
  __u64 first;
};

static long next_page_waited_for(__u32 index, struct waited_pages* pages) {
  page_waited_for(pages->c, pages->first + index);
  return 0;
}

// A read that slept and brought nothing itself waited for somebody else's I/O.
static __always_inline void count_read_that_waited(struct counters* c, struct task_struct* task, __u64 call,
                                                   __u64 read_bytes) {
  if (!is_followed(file_of(task, syscall_argument(entry_registers(task), 0)))) return;
  struct page_range range = asked_for(task, call, read_bytes);
  struct waited_pages pages = {.c = c, .first = range.first};
  __u64 most = range.end - range.first;
  bpf_loop(most < MOST_PAGES_WAITED_FOR ? most : MOST_PAGES_WAITED_FOR, next_page_waited_for, &pages, 0);
}

// At the return of any followed call.
static __always_inline void count_hint(struct counters* c, struct task_struct* task,
                                       const struct thread_state* thread, __u64 call, __s64 result) {
  if (result < 0) return;
  switch (call) {
  case CALL_MADVISE:
  case CALL_PROCESS_MADVISE:
  case CALL_FADVISE64:
  case CALL_READAHEAD: count_pages_of_hint(c, task, thread, call, result); break;
  case CALL_READ:
  case CALL_READV:
  case CALL_PREAD64:
  case CALL_PREADV:
  case CALL_PREADV2:
    if (result && task->nvcsw != thread->call_sleeps && !thread->call_added)
      count_read_that_waited(c, task, call, result);
  }
}
