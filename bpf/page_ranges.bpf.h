// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Pages of the followed file that a system call means: by its descriptor, offset and length.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"

// Pages [first, end) of a file.
struct page_range {
  __u64 first, end;
};

static __always_inline __u64 pages_in_both(struct page_range a, struct page_range b) {
  __u64 first = a.first > b.first ? a.first : b.first;
  __u64 end = a.end < b.end ? a.end : b.end;
  return end > first ? end - first : 0;
}

// Those that hold a byte of [offset, offset + bytes).
static __always_inline struct page_range pages_of(__u64 offset, __u64 bytes) {
  __u64 page_mask = (1ull << cfg.page_shift) - 1;
  return (struct page_range){offset >> cfg.page_shift, (offset + bytes + page_mask) >> cfg.page_shift};
}

// The open file behind a descriptor, null if there is none.
static __always_inline struct file* file_of(struct task_struct* task, __u64 fd) {
  struct fdtable* table = BPF_CORE_READ(task, files, fdt);
  struct file** files = BPF_CORE_READ(table, fd);
  struct file* file = 0;
  if ((__u32)fd >= BPF_CORE_READ(table, max_fds)) return 0;
  bpf_probe_read_kernel(&file, sizeof(file), files + (__u32)fd);
  return file;
}

static __always_inline bool is_followed(struct file* file) {
  return file && (__u64)BPF_CORE_READ(file, f_mapping) == followed_mapping;
}

// ---- calls that read
// ---------------------------------------------------------------------------------------

// Bytes of the first 16 elements of a vector, of all of them in practice.
static __always_inline __u64 vector_bytes(const struct iovec* vector, __u64 elements) {
  __u64 bytes = 0;
  for (int i = 0; i < 16; i++) {
    struct iovec element = {};
    if (i >= elements || bpf_probe_read_user(&element, sizeof(element), vector + i)) break;
    bytes += element.iov_len;
  }
  return bytes;
}

// Where a call that names no offset reads: at the file's position, which moves at the end of the call.
//   moved  bytes that it has moved already
static __always_inline __u64 file_position(struct task_struct* task, __u64 fd, __u64 moved) {
  struct file* file = file_of(task, fd);
  return file ? BPF_CORE_READ(file, f_pos) - moved : 0;
}

// What a call of one of the read family asked for. `moved` as above.
static __always_inline struct page_range asked_for(struct task_struct* task, enum followed_call call,
                                                   __u64 moved) {
  const struct pt_regs* regs = entry_registers(task);
  __u64 fd = syscall_argument(regs, 0), second = syscall_argument(regs, 1);
  __u64 third = syscall_argument(regs, 2), offset = syscall_argument(regs, 3);
  if (call == CALL_PREAD64) return pages_of(offset, third);
  if (call == CALL_READ) return pages_of(file_position(task, fd, moved), third);

  __u64 bytes = vector_bytes((const struct iovec*)second, third);
  // preadv2 with offset -1 reads at the file's position
  if (call == CALL_READV || (call == CALL_PREADV2 && offset == ~0ull))
    offset = file_position(task, fd, moved);
  return pages_of(offset, bytes);
}

// Who brings the pages of a folio: `wanted_by` those of the range that was wanted, `all` the rest.
struct bringers {
  enum page_source all, wanted_by;
  struct page_range wanted;
};

static __always_inline enum page_source bringer_of(const struct bringers* who, __u64 page) {
  return page >= who->wanted.first && page < who->wanted.end ? who->wanted_by : who->all;
}
