// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Programs that do nothing, on the hooks of iotrace's own: what being called at all costs, which is taken off
// the figures of bpf_stats. A fault's pair, a call's pair, a page's entry.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/page_fault_user")
int none_user_fault(void* ctx) {
  return 0;
}

SEC("perf_event")
int none_minor(void* ctx) {
  return 0;
}

SEC("perf_event")
int none_major(void* ctx) {
  return 0;
}

SEC("tp_btf/sys_enter")
int none_enter(void* ctx) {
  return 0;
}

SEC("tp_btf/sys_exit")
int none_exit(void* ctx) {
  return 0;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int none_added(void* ctx) {
  return 0;
}
