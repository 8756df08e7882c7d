// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How often do the target's threads come into the slow path of their mmap_lock, where the kernel queues them?
//
// Attaches to lock:contention_begin (since 5.19), which tells the lock and by LCB_F_READ and LCB_F_WRITE the
// side. A writer spins first in the hope that the holder lets go at once, and is not seen here if it does.
// Unlike the events of mmap_lock this one costs nothing where nobody waits.
//
// Cost: a few ns for each contended lock of the machine, 20 for those of the target.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/target.bpf.h"

// include/trace/events/lock.h
enum { LCB_F_READ = 1 << 1, LCB_F_WRITE = 1 << 2 };

static __always_inline int lock_contended(__u64 lock, __u64 flags) {
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  if (lock != (__u64)task->mm + bpf_core_field_offset(struct mm_struct, mmap_lock)) return 0;
  struct counters* c = my_counters();
  if (!c) return 0;
  if (flags & LCB_F_WRITE)
    c->lock.slow_path[LOCK_BY_WRITERS]++;
  else if (flags & LCB_F_READ)
    c->lock.slow_path[LOCK_BY_READERS]++;
  return 0;
}

SEC("?tp_btf/contention_begin")
int on_lock_contended__tp_btf(__u64* ctx) {
  __u64 lock = ctx[0], flags = ctx[1];
  return lock_contended(lock, flags);
}

SEC("?raw_tp/contention_begin")
int on_lock_contended__raw_tp(__u64* ctx) {
  __u64 lock = ctx[0], flags = ctx[1];
  return lock_contended(lock, flags);
}
