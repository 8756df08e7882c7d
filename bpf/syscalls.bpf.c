// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which of the followed system calls does the target make, what do they return, and how long do they take?
// For madvise also: which advice, for how many bytes, and at an address that the kernel accepts? How long do
// threads wait in calls that read, and in futex(2) for each other?
//
// Attaches to raw_syscalls:sys_enter and sys_exit. They fire for every call on the machine, once attached;
// other processes pay the kernel's slow path of about 50 ns and the filter.
//
// Cost: 100 to 230 ns per followed call more than two empty programs, two clock reads among it: most where
// the call copies much and leaves cold caches.
//
// Can't see: operations inside io_uring (uring.bpf.c has those that hint); calls of 32-bit programs have
// other numbers and are not told apart.
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_hints.bpf.h"
#include "bpf/attach_reads.bpf.h"
#include "bpf/call_results.bpf.h"
#include "bpf/events.bpf.h"
#include "bpf/hints.bpf.h"
#include "bpf/histogram.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"

static __always_inline int call_enters(__u64 number) {
  struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct thread_state* thread = thread_state(task);
  if (!thread) return 0;
  thread->call = followed_call_of(number);
  if (thread->fault_ns) {  // it failed: no fault is under way where a call begins
    struct counters* c = my_counters();
    if (c) c->faults.abandoned++;
    thread->fault_ns = 0;
  }
  if (thread->call > CALL_OTHER) {
    thread->call_added = 0;
    thread->call_sleeps = task->nvcsw;
    thread->call_waited_ns = thread->waited_ns;
    thread->call_ns = bpf_ktime_get_ns();
  }
  return 0;
}

// The exit of a call that began before the window opened.
static __always_inline void count_unmatched(struct counters* c, struct task_struct* task) {
  __s64 number = syscall_number(entry_registers(task));
  if (followed_call_of(number) > CALL_OTHER) c->syscalls.unmatched++;
}

static __always_inline void count_wait(struct counters* c, const struct task_struct* task,
                                       struct thread_state* thread, __u64 call, __u64 duration) {
  __u64* sum = 0;
  enum wait_kind kind = WAIT_READ;
  switch (call) {
  case CALL_READ:
  case CALL_READV:
  case CALL_PREAD64:
  case CALL_PREADV:
  case CALL_PREADV2:
  case CALL_IO_URING_ENTER: sum = &c->waits.read_ns; break;
  case CALL_FUTEX:
    sum = &c->waits.lock_ns;
    kind = WAIT_FUTEX;
    break;
  default: return;
  }
  if (task->nvcsw != thread->call_sleeps) add_wait(thread, kind, sum, duration, thread->call_waited_ns);
}

static __always_inline bool advises(__u64 call) {
  return call == CALL_MADVISE || call == CALL_FADVISE64 || call == CALL_PROCESS_MADVISE;
}

static __always_inline int call_exits(__s64 result) {
  struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task)) return 0;
  struct counters* c = my_counters();
  struct thread_state* thread = thread_state(task);
  if (!c || !thread) return 0;

  __u64 call = thread->call;
  thread->call = CALL_NONE;
  if (call == CALL_NONE) {
    count_unmatched(c, task);
    return 0;
  }
  if (call == CALL_OTHER) return 0;
  __u64 duration = bpf_ktime_get_ns() - thread->call_ns;
  histogram_add(HISTOGRAM_CALLS + call, duration);
  count_wait(c, task, thread, call, duration);
  if (cfg.window_ns) log_call(task, thread, call, result, duration);
  if (cfg.many) {
    count_file_read(task, call, result, duration);
    count_file_hint(task, thread, call, result);
  } else {
    count_hint(c, task, thread, call, result);
  }

  struct result_key key = {.call = call, .advice = NO_ADVICE};
  struct result_count once = {.calls = 1};
  if (result < 0 && result >= -4095) key.error = -result;
  if (advises(call)) {
    const struct pt_regs* regs = entry_registers(task);
    key.advice = call == CALL_MADVISE ? syscall_argument(regs, 2) : syscall_argument(regs, 3);
    if (call == CALL_MADVISE) {
      __u64 page_mask = (1ull << cfg.page_shift) - 1;
      once.misaligned = (syscall_argument(regs, 0) & page_mask) != 0;
      once.requested_bytes = syscall_argument(regs, 1);
    }
  } else if (!key.error) {
    barrier_var(call);
    c->syscalls.succeeded[call & (CALL_SLOTS - 1)]++;
    return 0;
  }
  count_result(c, &key, &once);
  return 0;
}

SEC("?tp_btf/sys_enter")
int on_call_enters__tp_btf(__u64* ctx) {
  return call_enters(ctx[1]);
}

SEC("?tp_btf/sys_exit")
int on_call_exits__tp_btf(__u64* ctx) {
  return call_exits(ctx[1]);
}

SEC("?raw_tp/sys_enter")
int on_call_enters__raw_tp(__u64* ctx) {
  return call_enters(ctx[1]);
}

SEC("?raw_tp/sys_exit")
int on_call_exits__raw_tp(__u64* ctx) {
  return call_exits(ctx[1]);
}
