// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The one BPF object: one line per probe. The probes share the target's filter and the state of its threads,
// as a fault's kind follows from what three of them see.
#include "vmlinux.h"

#include "bpf/block_io.bpf.c"
#include "bpf/fault_service.bpf.c"
#include "bpf/faults.bpf.c"
#include "bpf/followed_file.bpf.c"
#include "bpf/forks.bpf.c"
#include "bpf/lock_contention.bpf.c"
#include "bpf/mappings.bpf.c"
#include "bpf/mmap_lock.bpf.c"
#include "bpf/page_cache.bpf.c"
#include "bpf/readahead.bpf.c"
#include "bpf/reclaim.bpf.c"
#include "bpf/sleeps.bpf.c"
#include "bpf/syscalls.bpf.c"
#include "bpf/uring.bpf.c"

// The licence that the kernel asks for before it lends the helpers used here.
char LICENSE[] SEC("license") = "Dual BSD/GPL";
