// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The targets of attach: any number of thread groups, and the children that they fork.
//
// Everybody else's events pay one look at a bit.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_contract.h"

enum { BPF_NO_PREALLOC = 1 };  // BPF_F_NO_PREALLOC, include/uapi/linux/bpf.h

// A bit for each thread group that there can be.
__u64 target_bits[TARGET_BITS / 64];

// Who they are, for the loader to list.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // the loader gives them room where attach needs it, here and below
  __type(key, __u32);
  __type(value, __u32);  // the thread group that forked it, 0: asked for by the user
} targets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct attach_losses);
} attach_losses SEC(".maps");

static __always_inline struct attach_losses* my_losses(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&attach_losses, &zero);
}

// Files (addresses in the kernel) and threads (small numbers) that found no room in their tables, for each to
// be counted once.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, __u64);
  __type(value, __u32);
} left_out SEC(".maps");

// True: for the first time.
static __always_inline bool leave_out(__u64 file_or_thread) {
  __u32 nothing = 0;
  if (bpf_map_lookup_elem(&left_out, &file_or_thread)) return false;
  return bpf_map_update_elem(&left_out, &file_or_thread, &nothing, BPF_NOEXIST) == 0;
}

static __always_inline __u64* target_word(__u32 tgid) {
  return &target_bits[tgid / 64 & (TARGET_BITS / 64 - 1)];
}

static __always_inline bool is_target(__u32 tgid) {
  return *target_word(tgid) >> (tgid & 63) & 1;
}

static __always_inline void add_target(__u32 tgid, __u32 forked_by) {
  if (bpf_map_update_elem(&targets, &tgid, &forked_by, BPF_ANY)) {
    struct attach_losses* losses = my_losses();
    if (losses) losses->targets++;
    return;
  }
  __sync_fetch_and_or(target_word(tgid), 1ull << (tgid & 63));
}

static __always_inline void forget_target(__u32 tgid) {
  __sync_fetch_and_and(target_word(tgid), ~(1ull << (tgid & 63)));
  bpf_map_delete_elem(&targets, &tgid);
}
