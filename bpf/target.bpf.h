// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Whose events count, and what the programs remember of each of the target's threads.
//
// The filter stands first in every program: a load, a compare and a branch for everybody else's events.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_waits.bpf.h"
#include "bpf/contract.h"

const volatile struct config cfg;

struct target target;

// `struct address_space *` of the followed file, as a number that is only compared. The loader keeps the file
// open, so that it can't come to mean another file.
__u64 followed_mapping;
// Its `struct inode *`, and the `struct backing_dev_info *` of the file system that it is on.
__u64 followed_inode, followed_device;

SEC(".data.gate") struct gate gate;

// The task belongs to the target, whose window is open. One helper fetches the task for all that a program
// needs of it: a call of a helper costs 10 to 20 ns where returns are guarded against speculation.
static __always_inline bool belongs_to_target(const struct task_struct* task) {
  return cfg.many ? is_target(task->tgid) : (__u32)task->tgid == target.tgid;
}

static __always_inline bool counted(const struct task_struct* task) {
  return belongs_to_target(task) && gate.open;
}

static __always_inline bool excluded(const struct task_struct* task) {
  return (__u32)task->pid == target.excluded_tid;
}

// And does work of the target's own.
static __always_inline bool counted_work(const struct task_struct* task) {
  return counted(task) && !excluded(task);
}

// By its number; -1, as an exception has it, is none of the followed ones.
static __always_inline enum followed_call followed_call_of(__u64 number) {
  if (number >= SYSCALL_NUMBERS) return CALL_OTHER;
  barrier_var(number);
  return cfg.calls[number & (SYSCALL_NUMBERS - 1)];
}

// ---- counters of this CPU -----------------------------------------------------------------------------
// The programs run with preemption off and, but for those of block_io.bpf.c, never in an interrupt, so that
// plain additions do.

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct cpu_counters);
} counters SEC(".maps");

static __always_inline struct cpu_counters* my_cpu(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline struct counters* my_counters(void) {
  struct cpu_counters* mine = my_cpu();
  return mine ? &mine->sums : 0;
}

// ---- state of a thread --------------------------------------------------------------------------------
// An array indexed by the low bits of the thread's id: 0.5 ns, where task storage takes 2.7 and a hash 5.3.
// Two threads 65536 ids apart share a slot; the later one takes it over, and that is counted.

enum lock_hold { LOCK_FREE, LOCK_HELD_BY_READER, LOCK_HELD_BY_WRITER };

struct thread_state {
  __u64 owner;  // epoch of the attach, thread id

  // The fault under way
  __u64 fault_ns;  // its start, 0: none
  __u64 fault_address;
  __u64 fault_page;      // index of the page in the followed file, NO_PAGE: outside its mapping
  __u32 fault_sleeps;    // voluntary context switches of the thread at the start
  __u32 lock_sleeps;     // those of the fault that were on mmap_lock
  __u8 fault_in_kernel;  // taken by the kernel on the thread's behalf, in a system call
  __u8 fault_brought;    // fault_page entered the cache during the fault
  __u8 fault_service;    // enum fault_service
  __u8 fault_retries;    // times that the file was asked again

  // The thread's own mmap_lock
  __u8 lock_held;           // enum lock_hold
  __u8 lock_refused;        // the last attempt failed, and the next one goes on with the same wait
  __u8 at_readahead_mark;   // the thread has met the mark of a window, and the next one follows from it
  __u8 lock_is_ours;        // what happens to the lock is a look-up of these programs
  __u32 lock_asked_sleeps;  // voluntary context switches when it was last asked for
  __u32 call;               // the system call under way, enum followed_call
  __u64 lock_ns;            // when the lock was first asked for, 0: not being asked for
  __u64 lock_taken_ns;      // when it was acquired, if it is held
  __u64 lock_holder;        // when the thread asked for it: thread id and call, 0: nobody known

  __u64 call_ns;
  __u32 call_sleeps;  // voluntary context switches of the thread when the call began
  __u32 call_added;   // pages of the followed file that the call brought into the cache

  // What the thread has waited so far, as far as counted in wait_counters, now and at two earlier moments
  __u64 waited_ns;
  __u64 fault_waited_ns;  // when the fault under way began
  __u64 call_waited_ns;   // when the call under way began
  __u64 reclaim_ns;       // when direct reclaim began, 0: none under way
};
_Static_assert(sizeof(struct thread_state) == 128, "two cache lines");

#define NO_PAGE (~0ull)

enum { THREAD_SLOTS = 65536 };

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, THREAD_SLOTS);
  __type(key, __u32);
  __type(value, struct thread_state);
} threads SEC(".maps");

static __always_inline struct thread_state* thread_state(const struct task_struct* task) {
  __u32 tid = task->pid;
  __u32 slot = tid & (THREAD_SLOTS - 1);
  struct thread_state* thread = bpf_map_lookup_elem(&threads, &slot);
  if (!thread) return 0;

  __u64 owner = (__u64)target.epoch << 32 | tid;
  if (thread->owner == owner) return thread;

  bool in_use = thread->fault_ns || thread->call > CALL_OTHER || thread->lock_ns || thread->lock_held;
  if (in_use && thread->owner >> 32 == target.epoch) {
    struct counters* c = my_counters();
    if (c) c->threads_displaced++;
  }
  __builtin_memset(thread, 0, sizeof(*thread));
  thread->owner = owner;
  return thread;
}

static __always_inline __u32 thread_id(const struct thread_state* thread) {
  return (__u32)thread->owner;
}

// Counts a wait that began when the thread had waited `waited_before`: less what was counted meanwhile. One
// that ended before it began, by the clocks of two CPUs, is none. Returns what it counted.
static __always_inline __u64 add_wait(struct thread_state* thread, enum wait_kind kind, __u64* sum,
                                      __u64 duration_ns, __u64 waited_before) {
  __u64 inside = thread->waited_ns - waited_before;
  __u64 net = (__s64)duration_ns > (__s64)inside ? duration_ns - inside : 0;
  *sum += net;
  thread->waited_ns += net;
  if (cfg.many) add_thread_wait(kind, net);
  return net;
}
