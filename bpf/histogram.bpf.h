// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Per-CPU log-linear histograms in the layout of analysis/histogram.h, with 3 bits below the leading one:
// a bin is at most 12.5 % of its value wide, and every 64-bit value has one.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/contract.h"

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, HISTOGRAMS);
  __type(key, __u32);
  __type(value, struct histogram);
} histograms SEC(".maps");

// The number of the highest bit that is set, of a value above 0. Clang 14 has no __builtin_clzll for BPF.
static __always_inline __u64 highest_bit(__u64 value) {
  __u64 bit = 0, step;
  step = (value > 0xffffffffull) << 5, value >>= step, bit += step;
  step = (value > 0xffff) << 4, value >>= step, bit += step;
  step = (value > 0xff) << 3, value >>= step, bit += step;
  step = (value > 0xf) << 2, value >>= step, bit += step;
  step = (value > 0x3) << 1, value >>= step, bit += step;
  return bit + (value >> 1);
}

static __always_inline __u64 histogram_bin(__u64 value) {
  if (value < (1u << HISTOGRAM_SUB_BITS)) return value;
  __u64 shift = highest_bit(value) - HISTOGRAM_SUB_BITS;
  return ((shift + 1) << HISTOGRAM_SUB_BITS) + ((value >> shift) & ((1u << HISTOGRAM_SUB_BITS) - 1));
}

static __always_inline void histogram_add(__u32 index, __u64 value) {
  struct histogram* histogram = bpf_map_lookup_elem(&histograms, &index);
  if (!histogram) return;
  // The kernel's fast clock may be a few ns behind on one CPU while it is being adjusted: what ended before
  // it began took 0, not 584 years.
  if ((__s64)value < 0) value = 0;
  __u64 bin = histogram_bin(value);
  barrier_var(bin);  // else 6.1 loses the bound of the next line
  bin &= HISTOGRAM_BINS - 1;
  histogram->bins[bin]++;
  histogram->sum += value;
  if (value > histogram->max) histogram->max = value;
  if (~value > histogram->inverted_min) histogram->inverted_min = ~value;
}
