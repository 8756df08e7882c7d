// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Hints of attach's targets by file: calls, what the kernel refused them with, and how many of their pages
// were there already or lie beyond what it reads for one call (the rules are those of hints.bpf.h).
//
// fadvise64 and readahead name a descriptor. madvise and process_madvise name addresses, and the kernel is
// asked which mapping they are in. That takes mmap_lock as reader, as the call itself did a moment before,
// but never waits for it: while a writer holds or wants it, the hint's file stays unknown, which is counted.
// The probe of mmap_lock leaves these look-ups out.
//
// Cost: one more try-lock of mmap_lock and a walk of its tree per madvise(WILLNEED) and process_madvise;
// nothing for other calls.
//
// Can't see: what part of a hint lies outside of the mapping in which it begins; hints through io_uring by
// file.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/hints.bpf.h"
#include "bpf/page_ranges.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"

enum { ERROR_EAGAIN = 11, ERROR_ENOMEM = 12, ERROR_EBUSY = 16, ERROR_EINVAL = 22 };

static __always_inline void hint_is_on(struct hint* hint, struct file* file) {
  struct address_space* mapping = BPF_CORE_READ(file, f_mapping);
  struct inode* host = BPF_CORE_READ(mapping, host);
  hint->mapping = (__u64)mapping;
  hint->device_limit = BPF_CORE_READ(host, i_sb, s_bdi, io_pages);
  hint->file_end = pages_of(0, BPF_CORE_READ(host, i_size)).end;
  limit_by(hint, BPF_CORE_READ(file, f_ra.ra_pages));
}

static long hint_is_in(struct task_struct* task, struct vm_area_struct* vma, struct hint* hint) {
  struct file* file = BPF_CORE_READ(vma, vm_file);
  if (!file) return 0;
  hint_is_on(hint, file);
  hint->map_start = BPF_CORE_READ(vma, vm_start);
  hint->map_end = BPF_CORE_READ(vma, vm_end);
  hint->map_page = BPF_CORE_READ(vma, vm_pgoff);
  return 0;
}

static __always_inline void find_mapping_of(struct hint* hint, struct task_struct* task,
                                            struct thread_state* thread, __u64 address) {
  thread->lock_is_ours = 1;
  long error = bpf_find_vma(task, address, hint_is_in, hint, 0);
  thread->lock_is_ours = 0;
  if (error != -ERROR_EBUSY) return;  // else it is in no mapping, or in one of no file
  struct attach_losses* losses = my_losses();
  if (losses) losses->hint_files++;
}

static __always_inline void find_file_of(struct hint* hint, struct task_struct* task,
                                         struct thread_state* thread, const struct pt_regs* regs,
                                         __u64 call) {
  if (call == CALL_MADVISE) {
    find_mapping_of(hint, task, thread, syscall_argument(regs, 0));
  } else if (call == CALL_PROCESS_MADVISE) {
    struct iovec first = {};
    if (!means_self(task, syscall_argument(regs, 0))) return;
    if (bpf_probe_read_user(&first, sizeof(first), (const void*)syscall_argument(regs, 1))) return;
    find_mapping_of(hint, task, thread, (__u64)first.iov_base);
  } else {
    struct file* file = file_of(task, syscall_argument(regs, 0));
    if (file) hint_is_on(hint, file);
  }
}

static __always_inline enum hint_error hint_error(__s64 result) {
  switch (-result) {
  case ERROR_EINVAL: return HINT_EINVAL;
  case ERROR_ENOMEM: return HINT_ENOMEM;
  case ERROR_EAGAIN: return HINT_EAGAIN;
  default: return HINT_OTHER_ERROR;
  }
}

// At the return of any followed call.
static __always_inline void count_file_hint(struct task_struct* task, struct thread_state* thread, __u64 call,
                                            __s64 result) {
  switch (call) {
  case CALL_MADVISE:
  case CALL_PROCESS_MADVISE:
  case CALL_FADVISE64:
  case CALL_READAHEAD: break;
  default: return;
  }
  const struct pt_regs* regs = entry_registers(task);
  if (!is_hint(call, regs)) return;
  struct hint hint = {};
  find_file_of(&hint, task, thread, regs, call);
  struct file_stats* file = file_of_target(hint.mapping);
  if (!file) return;
  add_to(&file->hints, 1);
  if (result < 0) {
    add_to(&file->hints_refused[hint_error(result)], 1);
    return;
  }
  try_call(&hint, task, regs, call, result);
  add_to(&file->truncated, hint.truncated);
  add_to(&file->needless, needless_pages(&hint, thread));
}
