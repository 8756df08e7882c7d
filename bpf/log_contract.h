#pragma once
// What --stacks and --window log beside the sums: stacks of faults that waited, single events. Off by
// default, and then their tables have no room and their code is not loaded.

#include "bpf/contract.h"

// ---- stacks -------------------------------------------------------------------------------------------
enum {
  STACK_DEPTH = 127,          // frames, the innermost ones: kernel.perf_event_max_stack
  MOST_STACKS = 16384,        // places, a power of two: 17 MiB; a stack's hash chooses its place
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

// ---- single events -------------------------------------------------------------------------------------
enum {
  EVENT_ROOM = 8 << 20,  // bytes, 104,857 events: later ones are dropped
  MOST_ASKERS = 8192,    // bios and requests on their way
};

enum event_kind { EVENT_FAULT, EVENT_HINT, EVENT_READ, EVENT_DEVICE };

#define NOT_KNOWN (~0ull)

struct event {
  __u64 begin_ns;  // CLOCK_MONOTONIC
  __u64 duration_ns;
  __u64 mapping;  // address_space of the file, 0: not known
  __u64 at;       // where it begins: bytes of the file; where `address` says so, in the process; or NOT_KNOWN
  __u64 bytes;    // of a call that failed: 0
  __u32 tgid, tid;  // who asked for it, 0: not known
  __u8 kind;        // enum event_kind
  __u8 detail;      // of a fault, enum fault_kind; of a hint or read, enum followed_call
  __u8 address;     // `at` is one
  __u8 reserved;
  __u16 advice;     // NO_ADVICE: none
  __u16 error;      // errno
  char thread[16];  // comm
};
CONTRACT_SIZE(struct event, 72);
