// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The longest faults, kept by each CPU. Nearly every fault is shorter than all that are kept, and costs one
// comparison.
#pragma once
#include "vmlinux.h"

#include "bpf/contract.h"

// Puts it in the place of the shortest.
static __always_inline void keep_long_fault(struct long_faults* kept, struct long_fault fault) {
  __u64 shortest = 0, least = ~0ull, second = ~0ull;
  for (__u64 i = 0; i < LONG_FAULTS; i++) {
    __u64 ns = kept->entries[i].ns;
    if (ns < least) {
      second = least;
      least = ns;
      shortest = i;
    } else if (ns < second) {
      second = ns;
    }
  }
  barrier_var(shortest);
  shortest &= LONG_FAULTS - 1;
  kept->entries[shortest] = fault;
  kept->least = fault.ns < second ? fault.ns : second;
}
