// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How often do the target's threads take their mmap_lock, how long do they wait for it and how long do they
// hold it, and is a fault finished under it or under the lock of its VMA alone? Who holds the lock, and in
// which call, when it is waited for?
//
// Attaches to mmap_lock:mmap_lock_start_locking, _acquire_returned and _released. Up to 6.13 the second
// argument of each is the path of the memory cgroup, so `write` and `success` of acquire_returned stand one
// place further: a program of its own, as an argument picked at run time is refused by the verifiers of 6.1
// and 6.12.
//
// Cost: about 400 ns per acquisition, three events, in cold faults, where the wait for I/O has left nothing
// of it in the processor's caches. Up to 6.13 the kernel works out the cgroup's path for each, whatever is
// attached: much more, and not to be avoided.
//
// Can't see: the lock of a VMA (no kernel has an event there); mmap_upgrade_trylock (growth of the stack).
//
// The excluded thread (contract.h) is counted where it holds the lock and named where others wait for it, as
// they suffer from both; its acquisitions and waits are nobody's.
//
// A writer that becomes a reader (mmap_write_downgrade, as munmap does) holds it as the one and then as the
// other.
//
// A failed attempt followed by a blocking one, as in a fault, is one wait, from the first asking on.
//
// The holder is the writer that has the lock when it is asked for. If none has it, a reader waited for the
// writer that came in between, and a writer for readers: the last to come stands for them all, as which of
// them lets go last is not known.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/histogram.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"

// ---- holders
// -----------------------------------------------------------------------------------------------

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, HOLDER_KINDS);
  __type(key, struct holder_key);
  __type(value, __u64);  // times
} lock_holders SEC(".maps");

// Of the target's mmap_lock. A holder is a thread's id in the upper half and its call in the lower, in one
// word, so that it is read whole; 0: nobody. In a cache line of its own, as each acquisition writes to it.
struct {
  __u64 writer;  // has the lock now
  __u64 last_writer;
  __u64 last_reader;
  __u64 mm;  // in attach: of which the above are; another target's takes their place
  __u64 reserved[4];
} lock_holder __attribute__((aligned(64)));

static __always_inline __u64 unless_self(const struct thread_state* thread, __u64 holder) {
  return holder >> 32 == thread_id(thread) ? 0 : holder;
}

static __always_inline __u64 held_meanwhile_by(const struct thread_state* thread, bool write) {
  __u64 writer = unless_self(thread, lock_holder.last_writer);
  __u64 reader = unless_self(thread, lock_holder.last_reader);
  if (write) return reader ? reader : writer;
  return writer ? writer : reader;
}

static __always_inline __u64 this_thread_as_holder(const struct thread_state* thread) {
  __u64 call = thread->fault_ns ? CALL_FAULT : thread->call;
  if (call ==
      CALL_NONE) {  // neither fault nor call was seen: the hooks are off, or it began before the window
    __s64 number = syscall_number(entry_registers(bpf_get_current_task_btf()));
    call = number == -1 ? CALL_FAULT : followed_call_of(number);
  }
  return (__u64)thread_id(thread) << 32 | call;
}

static __always_inline void count_holder(struct counters* c, __u64 holder) {
  if (!holder) return;
  struct holder_key key = {.tid = holder >> 32, .call = (__u32)holder};
  __u64* times = bpf_map_lookup_elem(&lock_holders, &key);
  if (!times) {
    __u64 none = 0;
    bpf_map_update_elem(&lock_holders, &key, &none, BPF_NOEXIST);
    times = bpf_map_lookup_elem(&lock_holders, &key);
  }
  if (times)
    __sync_fetch_and_add(times, 1);
  else
    c->lock.holders_lost++;
}

// ---- one thread's wait and hold
// ------------------------------------------------------------------------------

// A thread may lock another process's mm (process_madvise, /proc/PID/mem): only its own counts.
static __always_inline struct thread_state* own_lock(const struct task_struct* task, __u64 mm) {
  if (!counted(task) || mm != (__u64)task->mm) return 0;
  if (cfg.many && lock_holder.mm != mm) {
    lock_holder.writer = lock_holder.last_writer = lock_holder.last_reader = 0;
    lock_holder.mm = mm;
  }
  struct thread_state* thread = thread_state(task);
  return thread && !thread->lock_is_ours ? thread : 0;
}

static __always_inline int lock_asked_for(__u64 mm) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* thread = own_lock(task, mm);
  if (!thread) return 0;
  if (!thread->lock_refused) {
    thread->lock_holder = unless_self(thread, lock_holder.writer);
    thread->lock_ns = bpf_ktime_get_ns();
  }
  thread->lock_asked_sleeps = task->nvcsw;
  return 0;
}

static __always_inline void lock_taken(struct thread_state* thread, bool write, __u64 now) {
  thread->lock_taken_ns = now;
  __u64 holder = this_thread_as_holder(thread);
  if (write) {
    lock_holder.writer = lock_holder.last_writer = holder;
    thread->lock_held = LOCK_HELD_BY_WRITER;
  } else {
    lock_holder.last_reader = holder;
    thread->lock_held = LOCK_HELD_BY_READER;
  }
}

// The hold that ends now.
static __always_inline void count_hold(const struct thread_state* thread, __u64 now) {
  __u64 held = now - thread->lock_taken_ns;
  if (thread->lock_held == LOCK_HELD_BY_WRITER)
    histogram_add(HISTOGRAM_LOCK_HOLDS + LOCK_BY_WRITERS, held);
  else if (thread->lock_held == LOCK_HELD_BY_READER)
    histogram_add(HISTOGRAM_LOCK_HOLDS + LOCK_BY_READERS, held);
}

static __always_inline void count_acquired(struct thread_state* thread, bool write, bool contended,
                                           __u64 now) {
  if (thread_id(thread) == target.excluded_tid) return;
  struct counters* c = my_counters();
  if (!c) return;
  __u64 wait = now - thread->lock_ns;
  if (write) {
    c->lock.acquired[LOCK_BY_WRITERS]++;
    c->lock.contended[LOCK_BY_WRITERS] += contended;
    histogram_add(HISTOGRAM_LOCK_WAITS + LOCK_BY_WRITERS, wait);
  } else {
    c->lock.acquired[LOCK_BY_READERS]++;
    c->lock.contended[LOCK_BY_READERS] += contended;
    histogram_add(HISTOGRAM_LOCK_WAITS + LOCK_BY_READERS, wait);
  }
  if (!contended) return;
  add_wait(thread, WAIT_MMAP_LOCK, &c->waits.lock_ns, wait, thread->waited_ns);
  count_holder(c, thread->lock_holder ? thread->lock_holder : held_meanwhile_by(thread, write));
}

static __always_inline int lock_answered(__u64 mm, bool write, bool success) {
  const struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* thread = own_lock(task, mm);
  if (!thread) return 0;
  if (!thread->lock_ns) {
    // A writer becomes a reader without asking.
    if (success && !write && thread->lock_held == LOCK_HELD_BY_WRITER) {
      __u64 now = bpf_ktime_get_ns();
      count_hold(thread, now);
      lock_holder.writer = 0;
      lock_taken(thread, false, now);
    }
    return 0;
  }
  __u64 slept = task->nvcsw - thread->lock_asked_sleeps;
  thread->lock_sleeps += slept;
  bool contended = thread->lock_refused || slept;
  thread->lock_refused = !success;
  if (!success && !thread->lock_holder) thread->lock_holder = unless_self(thread, lock_holder.writer);
  if (!success) return 0;
  __u64 now = bpf_ktime_get_ns();
  count_acquired(thread, write, contended, now);
  lock_taken(thread, write, now);
  thread->lock_ns = 0;
  return 0;
}

static __always_inline int lock_released(__u64 mm) {
  struct thread_state* thread = own_lock(bpf_get_current_task_btf(), mm);
  if (!thread) return 0;
  if (thread->lock_held == LOCK_FREE) return 0;
  if (thread->lock_held == LOCK_HELD_BY_WRITER) lock_holder.writer = 0;
  count_hold(thread, bpf_ktime_get_ns());
  thread->lock_held = LOCK_FREE;
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
