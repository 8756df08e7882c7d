// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Attach's table of files: those that a target faulted on, read or brought pages of, by the address of their
// address_space. A file's numbers are shared by all CPUs, so that 5,000 files fit; they are added to
// atomically, about 5 ns each.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_targets.bpf.h"
#include "bpf/histogram.bpf.h"

enum { FILE_TYPE_MASK = 0170000, REGULAR_FILE = 0100000 };  // include/uapi/linux/stat.h

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, __u64);
  __type(value, struct file_stats);
} files SEC(".maps");

// A file of which nothing was seen yet.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct file_stats);
} new_file SEC(".maps");

static __always_inline struct file_stats* known_file(__u64 mapping) {
  return bpf_map_lookup_elem(&files, &mapping);
}

// Puts a regular file that a target uses into the table. 0: it is none, or there is no room, which is
// counted.
static __always_inline struct file_stats* file_of_target(__u64 mapping) {
  if (!mapping) return 0;
  struct file_stats* file = known_file(mapping);
  if (file) return file;
  struct inode* host = BPF_CORE_READ((struct address_space*)mapping, host);
  if ((BPF_CORE_READ(host, i_mode) & FILE_TYPE_MASK) != REGULAR_FILE) return 0;
  __u32 zero = 0;
  struct file_stats* empty = bpf_map_lookup_elem(&new_file, &zero);
  if (empty) bpf_map_update_elem(&files, &mapping, empty, BPF_NOEXIST);
  file = known_file(mapping);
  if (!file) {
    struct attach_losses* losses = my_losses();
    if (losses && leave_out(mapping)) losses->files++;
    return 0;
  }
  file->inode = BPF_CORE_READ(host, i_ino);
  file->device = BPF_CORE_READ(host, i_sb, s_dev);
  return file;
}

static __always_inline void add_to(__u64* sum, __u64 more) {
  __sync_fetch_and_add(sum, more);
}

static __always_inline __u64 file_bin(__u64 value) {
  if (value < (1u << FILE_SUB_BITS)) return value;
  __u64 shift = highest_bit(value) - FILE_SUB_BITS;
  __u64 bin = ((shift + 1) << FILE_SUB_BITS) + ((value >> shift) & ((1u << FILE_SUB_BITS) - 1));
  return bin < FILE_BINS ? bin : FILE_BINS - 1;
}

// The extremes may lose against another CPU's at the same moment: they are of all but such values.
static __always_inline void file_histogram_add(struct file_histogram* histogram, __u64 value) {
  __u64 bin = file_bin(value);
  barrier_var(bin);
  if (bin >= FILE_BINS) return;
  __sync_fetch_and_add(&histogram->bins[bin], 1);
  add_to(&histogram->sum, value);
  if (value > histogram->max) histogram->max = value;
  if (~value > histogram->inverted_min) histogram->inverted_min = ~value;
}
