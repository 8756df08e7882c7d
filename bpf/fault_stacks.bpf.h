// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which code of the target waits in page faults, and where in the kernel does it sleep? With --stacks alone.
//
// The user stack is taken where a fault ends that waited or read, the kernel stack where its thread first
// went to sleep for anything but mmap_lock (sleeps.bpf.c). Faults that found their page in the cache pay
// nothing.
//
// Cost: about 5 us per fault that waited, in two walks of a stack after caches have gone cold.
//
// Can't see: callers in code that was compiled without frame pointers, and the caller of a function that has
// no frame of its own (memcpy, a system call's wrapper); frames beyond the innermost
// STACK_DEPTH. A stack whose hash another one has taken, and one more than there is room for, is counted as
// dropped, with its time.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/log_contract.h"
#include "bpf/target.bpf.h"

enum { BPF_F_USER_STACK = 1 << 8 };  // include/uapi/linux/bpf.h

struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, 1);  // the loader gives them room where they are wanted, here and below
  __uint(key_size, sizeof(__u32));
  __uint(value_size, STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, struct stack_key);
  __type(value, struct stack_wait);
} stack_waits SEC(".maps");

// Where each thread slept in its last fault, by the slots of thread_state.
struct fault_sleep {
  __u64 fault_ns;  // start of that fault
  __s32 stack;
  __u32 reserved;
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct fault_sleep);
} fault_sleeps SEC(".maps");

// Of all CPUs. Zeroed at each attach.
struct stack_wait stacks_dropped;

static __always_inline struct fault_sleep* fault_sleep(const struct task_struct* task) {
  __u32 slot = task->pid & (STACK_THREAD_SLOTS - 1);
  return bpf_map_lookup_elem(&fault_sleeps, &slot);
}

static __always_inline void drop_stack(__u64 wait_ns) {
  __sync_fetch_and_add(&stacks_dropped.faults, 1);
  __sync_fetch_and_add(&stacks_dropped.wait_ns, wait_ns);
}

// At the end of a fault that waited.
//   ctx  the program's own
static __always_inline void keep_stack(void* ctx, const struct task_struct* task,
                                       const struct thread_state* thread, __u64 wait_ns) {
  struct stack_key key = {.tgid = task->tgid, .kernel = NO_STACK};
  const struct fault_sleep* sleep = fault_sleep(task);
  if (sleep && sleep->fault_ns == thread->fault_ns) key.kernel = sleep->stack;
  key.user = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
  if (key.user < 0 || key.kernel < 0) {
    drop_stack(wait_ns);
    return;
  }
  bpf_probe_read_kernel(key.thread, sizeof(key.thread), task->comm);

  struct stack_wait* sum = bpf_map_lookup_elem(&stack_waits, &key);
  if (!sum) {
    struct stack_wait none = {};
    bpf_map_update_elem(&stack_waits, &key, &none, BPF_NOEXIST);
    sum = bpf_map_lookup_elem(&stack_waits, &key);
    if (!sum) {
      drop_stack(wait_ns);
      return;
    }
  }
  __sync_fetch_and_add(&sum->faults, 1);
  __sync_fetch_and_add(&sum->wait_ns, wait_ns);
}
