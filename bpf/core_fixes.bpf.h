// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Where kernels differ: one accessor per meaning, with the change that made it necessary.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

// The number of pages of a folio; 0 if this kernel keeps it nowhere that we know.
//   flags  the first 8 bytes of the folio. `folio->flags` can't be named: in 6.18 its type changed from
//          unsigned long to memdesc_flags_t, but it never left offset 0
// A folio of one page has no count of its own. The count of a larger one is _folio_nr_pages, in 6.14 renamed
// to _nr_pages.
static __always_inline __u64 folio_pages(const struct folio* folio, __u64 flags) {
  if (!(flags & (1ull << bpf_core_enum_value(enum pageflags, PG_head)))) return 1;

  const struct folio___since_6_14* renamed = (const void*)folio;
  if (bpf_core_field_exists(renamed->_nr_pages)) return BPF_CORE_READ(renamed, _nr_pages);

  const struct folio___before_6_14* original = (const void*)folio;
  if (bpf_core_field_exists(original->_folio_nr_pages)) return BPF_CORE_READ(original, _folio_nr_pages);
  return 0;
}

// Misses of its mappings that the kernel has counted for an open file; it stops reading around at 100. In
// 6.17 the number became 16 bits wide, when the order of the next folios joined it.
static __always_inline __u64 mmap_misses(const struct file_ra_state* state) {
  const struct file_ra_state___since_6_17* narrow = (const void*)state;
  if (bpf_core_field_exists(narrow->order)) return BPF_CORE_READ(narrow, mmap_miss);
  const struct file_ra_state___before_6_17* wide = (const void*)state;
  return BPF_CORE_READ(wide, mmap_miss);
}

// Length of a madvise that is given through io_uring; 32 bits wide up to 6.10.
static __always_inline __u64 advised_bytes(const struct io_madvise* madvise) {
  const struct io_madvise___since_6_11* wide = (const void*)madvise;
  if (bpf_core_field_size(wide->len) == sizeof(__u64)) return BPF_CORE_READ(wide, len);
  const struct io_madvise___before_6_11* narrow = (const void*)madvise;
  return BPF_CORE_READ(narrow, len);
}
