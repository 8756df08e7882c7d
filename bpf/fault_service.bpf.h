// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How far the kernel had to go to serve a fault on the followed mapping. A pass looks first for pages around
// the faulting one that are cached and ready (fault-around), which is all that a warm fault needs. If the
// faulting one is not among them, the pass asks the file (filemap_fault), which finds it in flight, reads it,
// or starts readahead from it. When that meant to wait, the lock is let go and there is another pass.
//
// How many threads are in faults that the file serves, at once, is kept in one number of all CPUs: a warm
// fault never touches it. A thread is in it from the first question to the file until the end of its fault;
// where a fault has no end because it failed (an I/O error), until the thread's next one.
#pragma once
#include "vmlinux.h"

#include "bpf/target.bpf.h"

enum fault_service {
  SERVED_AROUND,               // nothing more was needed so far
  SERVED_BY_FILE,              // the file was asked last
  SERVED_BY_FILE_THEN_AROUND,  // a later pass looked around
};

// In a cache line of its own. Zeroed at each attach.
struct {
  __u64 threads;
  __u64 reserved[7];
} file_faults __attribute__((aligned(64)));

static __always_inline void asks_file(struct thread_state* thread) {
  if (thread->fault_service == SERVED_AROUND)
    __sync_fetch_and_add(&file_faults.threads, 1);
  else
    thread->fault_retries++;
  thread->fault_service = SERVED_BY_FILE;
}

static __always_inline void looks_around(struct thread_state* thread) {
  if (thread->fault_service == SERVED_BY_FILE) thread->fault_service = SERVED_BY_FILE_THEN_AROUND;
}

// Returns how many threads were in such faults, this one included.
static __always_inline __u64 leaves_file(struct thread_state* thread) {
  thread->fault_service = SERVED_AROUND;
  return __sync_fetch_and_add(&file_faults.threads, -1);
}

// Passes beside the first: an asking of the file ends each but the last, and the last one too unless it found
// the page by looking around.
static __always_inline __u64 passes_beside_first(const struct thread_state* thread) {
  return thread->fault_retries + (thread->fault_service == SERVED_BY_FILE_THEN_AROUND);
}
