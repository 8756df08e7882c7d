// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Results of calls that advise, by advice and errno, and of others that failed.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/target.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, RESULT_KINDS);
  __type(key, struct result_key);
  __type(value, struct result_count);
} call_results SEC(".maps");

static __always_inline void count_result(struct counters* c, const struct result_key* key,
                                         const struct result_count* once) {
  struct result_count* count = bpf_map_lookup_elem(&call_results, key);
  if (count) {
    count->calls += once->calls;
    count->misaligned += once->misaligned;
    count->requested_bytes += once->requested_bytes;
    return;
  }
  // The new entry holds this CPU's value alone; another CPU may have made it meanwhile.
  if (!bpf_map_update_elem(&call_results, key, once, BPF_NOEXIST)) return;
  count = bpf_map_lookup_elem(&call_results, key);
  if (!count) {
    c->syscalls.lost++;
    return;
  }
  count->calls += once->calls;
  count->misaligned += once->misaligned;
  count->requested_bytes += once->requested_bytes;
}
