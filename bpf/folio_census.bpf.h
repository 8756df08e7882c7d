// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Folios by order, whoever adds them: what filling the cache left.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/contract.h"

bool folio_census;

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, FOLIO_ORDERS);
  __type(key, __u32);
  __type(value, __u64);
} folio_orders SEC(".maps");

static __always_inline void count_order(__u64 pages) {
  __u32 order = 0;
  while (order < FOLIO_ORDERS - 1 && pages >> (order + 1)) order++;
  __u64* folios = bpf_map_lookup_elem(&folio_orders, &order);
  if (folios) ++*folios;
}
