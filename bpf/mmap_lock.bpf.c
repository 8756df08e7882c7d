// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How often do the target's threads take their mmap_lock, how long do they wait for it, and is a fault
// finished under it or under the lock of its VMA alone?
//
// Attaches to mmap_lock:mmap_lock_start_locking, _acquire_returned and _released. Up to 6.13 the second
// argument of each is the path of the memory cgroup, so `write` and `success` of acquire_returned stand one
// place further: a program of its own, as an argument picked at run time is refused by the verifiers of 6.1
// and 6.12.
//
// Cost: about 40 ns per event, of which an acquisition has three. Up to 6.13 the kernel works out the
// cgroup's path for each, whatever is attached: much more, and not to be avoided.
//
// Can't see: the lock of a VMA (no kernel has an event there); mmap_upgrade_trylock (growth of the stack).
//
// A failed attempt followed by a blocking one, as in a fault, is one wait, from the first asking on.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/histogram.bpf.h"
#include "bpf/target.bpf.h"

// A thread may lock another process's mm (process_madvise, /proc/PID/mem): only its own counts.
static __always_inline struct thread_state* own_lock(__u64 mm) {
  __u64 pid_tgid = bpf_get_current_pid_tgid();
  if (!counted(pid_tgid)) return 0;
  if (mm != (__u64)bpf_get_current_task_btf()->mm) return 0;
  return thread_state((__u32)pid_tgid);
}

static __always_inline int lock_asked_for(__u64 mm) {
  struct thread_state* thread = own_lock(mm);
  if (!thread) return 0;
  if (!thread->lock_refused) thread->lock_ns = bpf_ktime_get_ns();
  thread->lock_asked_sleeps = bpf_get_current_task_btf()->nvcsw;
  return 0;
}

static __always_inline int lock_answered(__u64 mm, bool write, bool success) {
  struct thread_state* thread = own_lock(mm);
  if (!thread || !thread->lock_ns) return 0;

  __u64 slept = bpf_get_current_task_btf()->nvcsw - thread->lock_asked_sleeps;
  thread->lock_sleeps += slept;
  bool contended = thread->lock_refused || slept;
  thread->lock_refused = !success;
  if (!success) return 0;
  thread->lock_held = 1;

  struct counters* c = my_counters();
  if (!c) return 0;
  if (write) {
    c->lock.acquired[LOCK_BY_WRITERS]++;
    c->lock.contended[LOCK_BY_WRITERS] += contended;
    histogram_add(HISTOGRAM_LOCK_WAITS + LOCK_BY_WRITERS, bpf_ktime_get_ns() - thread->lock_ns);
  } else {
    c->lock.acquired[LOCK_BY_READERS]++;
    c->lock.contended[LOCK_BY_READERS] += contended;
    histogram_add(HISTOGRAM_LOCK_WAITS + LOCK_BY_READERS, bpf_ktime_get_ns() - thread->lock_ns);
  }
  thread->lock_ns = 0;
  return 0;
}

static __always_inline int lock_released(__u64 mm) {
  struct thread_state* thread = own_lock(mm);
  if (thread) thread->lock_held = 0;
  return 0;
}

SEC("?tp_btf/mmap_lock_start_locking")
int on_lock_asked__tp_btf(__u64* ctx) {
  return lock_asked_for(ctx[0]);
}

SEC("?raw_tp/mmap_lock_start_locking")
int on_lock_asked__raw_tp(__u64* ctx) {
  return lock_asked_for(ctx[0]);
}

// (mm, write, success), since 6.14
SEC("?tp_btf/mmap_lock_acquire_returned")
int on_lock_answered__tp_btf(__u64* ctx) {
  return lock_answered(ctx[0], ctx[1], ctx[2]);
}

SEC("?raw_tp/mmap_lock_acquire_returned")
int on_lock_answered__raw_tp(__u64* ctx) {
  return lock_answered(ctx[0], ctx[1], ctx[2]);
}

// (mm, memcg_path, write, success), before 6.14
SEC("?tp_btf/mmap_lock_acquire_returned")
int on_lock_answered_memcg__tp_btf(__u64* ctx) {
  return lock_answered(ctx[0], ctx[2], ctx[3]);
}

SEC("?raw_tp/mmap_lock_acquire_returned")
int on_lock_answered_memcg__raw_tp(__u64* ctx) {
  return lock_answered(ctx[0], ctx[2], ctx[3]);
}

SEC("?tp_btf/mmap_lock_released")
int on_lock_released__tp_btf(__u64* ctx) {
  return lock_released(ctx[0]);
}

SEC("?raw_tp/mmap_lock_released")
int on_lock_released__raw_tp(__u64* ctx) {
  return lock_released(ctx[0]);
}
