// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How often must the target's threads free memory themselves before they get any, and for how long? How often
// do they interrupt other CPUs to flush their TLBs, and what do they read back from swap?
//
// Attaches to vmscan:mm_vmscan_direct_reclaim_begin and _end, where the machine runs out, and
// mm_vmscan_memcg_reclaim_begin and _end, where a cgroup reaches its limit (kernels without memory cgroups
// have the first two alone). A thread that reclaims does not enter reclaim again (PF_MEMALLOC), so one
// beginning is kept per thread.
//
// TLB: tlb:tlb_flush, which x86 alone has; of its reasons the one that is given where the interrupts are
// sent. The event fires for every flush on the machine, so the reason is looked at first.
//
// Swap: block:block_bio_queue in the thread that reads, of pages that have no owner yet but are backed by
// swap. Pages that the kernel reads beside the one that is needed count too.
//
// Cost, empty programs included: 130 to 550 ns for each beginning and end of a reclaim, which itself takes
// tens of microseconds; about 90 ns per TLB flush of anybody's; 170 to 350 ns per bio that the target queues.
//
// Can't see: flushes by INVLPGB (AMD, Linux 6.15 on) or by the hypervisor, which send no interrupts; pages
// that come back from zswap, from zram before Linux 6.3, from swap over the network.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/block_io.bpf.h"
#include "bpf/histogram.bpf.h"
#include "bpf/target.bpf.h"

static __always_inline int reclaim_begins(void) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct thread_state* thread = thread_state(task);
  if (thread) thread->reclaim_ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int reclaim_ends(__u64 pages, __u64 of_cgroup) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct counters* c = my_counters();
  struct thread_state* thread = thread_state(task);
  if (!c || !thread || !thread->reclaim_ns) return 0;
  c->reclaim.stalls++;
  c->reclaim.cgroup_stalls += of_cgroup;
  c->reclaim.reclaimed_pages += pages;
  histogram_add(HISTOGRAM_RECLAIM, bpf_ktime_get_ns() - thread->reclaim_ns);
  thread->reclaim_ns = 0;
  return 0;
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_begin")
int on_reclaim_begins__tp_btf(__u64* ctx) {
  return reclaim_begins();
}

SEC("?tp_btf/mm_vmscan_direct_reclaim_end")
int on_reclaim_ends__tp_btf(__u64* ctx) {
  return reclaim_ends(ctx[0], 0);
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_begin")
int on_memcg_reclaim_begins__tp_btf(__u64* ctx) {
  return reclaim_begins();
}

SEC("?tp_btf/mm_vmscan_memcg_reclaim_end")
int on_memcg_reclaim_ends__tp_btf(__u64* ctx) {
  return reclaim_ends(ctx[0], 1);
}

// (reason, pages)
SEC("?tp_btf/tlb_flush")
int on_tlb_flush__tp_btf(__u64* ctx) {
  if ((__u32)ctx[0] != bpf_core_enum_value(enum tlb_flush_reason, TLB_REMOTE_SEND_IPI)) return 0;
  if (!counted_work(bpf_get_current_task_btf())) return 0;
  struct counters* c = my_counters();
  if (c) c->reclaim.tlb_shootdowns++;
  return 0;
}

SEC("?tp_btf/block_bio_queue")
int on_swap_in__tp_btf(__u64* ctx) {
  const struct bio* bio = (const struct bio*)ctx[0];
  if (!counted_work(bpf_get_current_task_btf()) || !reads(bio->bi_opf)) return 0;
  const struct folio* folio = first_folio(bio);
  if (!is_swapped_in(folio, mapping_of(folio))) return 0;
  struct counters* c = my_counters();
  if (c) c->reclaim.swap_ins += bio->bi_iter.bi_size >> cfg.page_shift;
  return 0;
}
