#pragma once
// What --stacks and --window log beside the sums: stacks of faults that waited, single events. Off by
// default, and then their tables have no room and their code is not loaded.

#include "bpf/contract.h"

// ---- stacks -------------------------------------------------------------------------------------------
enum {
  STACK_DEPTH = 127,          // frames, the innermost ones: kernel.perf_event_max_stack
  MOST_STACKS = 8192,         // different ones, a power of two: 8 MiB
  MOST_STACK_WAITS = 8192,    // pairs of a user and a kernel stack, by thread name
  NO_STACK = 0x7fffffff,      // in place of an id: there is none
  STACK_THREAD_SLOTS = 65536  // as many as thread states
};

struct stack_key {
  __s32 user;    // ids of the map `stacks`
  __s32 kernel;  // where the thread slept first, NO_STACK: it did not sleep
  __u32 tgid;
  __u32 reserved;
  char thread[16];  // comm
};
CONTRACT_SIZE(struct stack_key, 32);

struct stack_wait {
  __u64 faults;
  __u64 wait_ns;
};
CONTRACT_SIZE(struct stack_wait, 16);
