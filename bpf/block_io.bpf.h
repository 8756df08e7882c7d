// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Whose pages a bio moves: those of a file in the page cache, of a process's buffer in direct I/O, or of
// memory that comes back from swap.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/target.bpf.h"

enum {
  MAPPING_FLAGS = 3
};  // low bits of folio->mapping: it is no address_space (include/linux/page-flags.h)

static __always_inline bool reads(__u32 operation_and_flags) {
  return (operation_and_flags & REQ_OP_MASK) == REQ_OP_READ;
}

// The folio of the first page that is still to be moved.
//   bio  as a tp_btf program has it, which loads its fields without a helper
static __always_inline const struct folio* first_folio(const struct bio* bio) {
  __u64 vectors = (__u64)BPF_CORE_READ(bio, bi_io_vec);  // 6.1 allows no arithmetic on a loaded pointer
  __u64 vector = vectors + (__u64)bio->bi_iter.bi_idx * bpf_core_type_size(struct bio_vec);
  const struct page* page = BPF_CORE_READ((const struct bio_vec*)vector, bv_page);
  __u64 head = BPF_CORE_READ(page, compound_head);
  return (const struct folio*)(head & 1 ? head - 1 : (__u64)page);
}

static __always_inline __u64 mapping_of(const struct folio* folio) {
  return (__u64)BPF_CORE_READ(folio, mapping);
}

// Of a page cache, some file's.
static __always_inline bool is_cache(__u64 mapping) {
  return mapping && !(mapping & MAPPING_FLAGS);
}

// Memory without a file that is on its way back from swap. A buffer of direct I/O has a mapping already,
// which says who maps it.
static __always_inline bool is_swapped_in(const struct folio* folio, __u64 mapping) {
  __u64 flags = 0;
  if (mapping) return false;
  bpf_probe_read_kernel(&flags, sizeof(flags), folio);  // at offset 0, see core_fixes.bpf.h
  return flags & (1ull << bpf_core_enum_value(enum pageflags, PG_swapbacked));
}

// The file of a direct read, through iomap's account of it. Where bi_private is something else it does not
// lead to the followed file's address_space: nothing but its own pointers do.
static __always_inline const struct file* file_of_direct(const struct bio* bio) {
  const struct iomap_dio* dio = bio->bi_private;
  return BPF_CORE_READ(dio, iocb, ki_filp);
}

// The address_space of the followed file, or of one of attach's, that it reads; 0: it reads none of them.
static __always_inline __u64 followed_file_read(const struct bio* bio) {
  __u64 mapping = mapping_of(first_folio(bio));
  if (!is_cache(mapping)) mapping = (__u64)BPF_CORE_READ(file_of_direct(bio), f_mapping);
  if (cfg.many) return known_file(mapping) ? mapping : 0;
  return mapping == followed_mapping ? mapping : 0;
}
