#pragma once
// What attach adds to contract.h: tables by target, file, thread and page, for a process of which nothing is
// known beforehand. Each is bounded; what found no room is counted.

#include "bpf/contract.h"

enum {
  TARGET_BITS = 1 << 22,  // PID_MAX_LIMIT: a bit for each thread group that there can be
  MOST_TARGETS = 4096,    // thread groups
  MOST_FILES = 8192,
  MOST_THREADS = 8192,
  MOST_FILE_CHUNKS = 8192,  // of LEDGER_CHUNK_PAGES pages of a file: 128 GiB of them with pages of 4 KiB
  THREAD_PLACES = 65536,    // as many as thread states
  TARGET_NAME = 16,         // TASK_COMM_LEN
};

// Of one file, shared by all CPUs: bins of 2 bits below the leading one, for values below 2^38.
enum { FILE_SUB_BITS = 2, FILE_BINS = 152 };
struct file_histogram {
  __u64 sum;
  __u64 max;
  __u64 inverted_min;  // ~min
  __u32 bins[FILE_BINS];
};
CONTRACT_SIZE(struct file_histogram, 24 + 4 * FILE_BINS);

// What the kernel refused a hint with.
enum hint_error { HINT_EINVAL, HINT_ENOMEM, HINT_EAGAIN, HINT_OTHER_ERROR, HINT_ERRORS };

// By the address of its address_space, which a file keeps as long as its inode is in memory.
struct file_stats {
  __u64 inode;
  __u32 device;  // as the kernel has it: major << 20 | minor
  __u32 reserved;
  struct file_histogram faults[FAULT_OTHER];  // by enum fault_kind but the last
  struct file_histogram reads;
  struct file_histogram io_ns;
  struct file_histogram io_bytes;
  __u64 minor, major;
  __u64 under_vma_lock, under_mmap_lock;
  __u64 read_bytes;
  __u64 in_order, out_of_order;
  __u64 added[PAGE_SOURCE_SLOTS];
  __u64 used[PAGE_SOURCE_SLOTS];    // lives that ended, touched for certain
  __u64 around[PAGE_SOURCE_SLOTS];  // that ended, mapped beside another page's fault: touched or not
  __u64 wasted[PAGE_SOURCE_SLOTS];  // that ended, and never mapped
  __u64 removed;
  __u64 refaults;
  __u64 late;   // pages that a hint brought, still in flight when touched
  __u64 hints;  // calls
  __u64 hints_refused[HINT_ERRORS];
  __u64 needless, truncated;  // pages, as in hint_counters
};
CONTRACT_SIZE(struct file_stats, 16 + 6 * 632 + 8 * (7 + 4 * PAGE_SOURCE_SLOTS + 3 + 3 + HINT_ERRORS));

// What a CPU has counted of the pages of one file, and not yet added to its file_stats.
struct chunk_run {
  __u64 chunk;
  __u32 place;
  __u32 known;
};
struct file_batch {
  __u64 mapping;  // 0: none
  struct chunk_run entering, leaving;
  __u64 added[PAGE_SOURCE_SLOTS];
  __u64 used[PAGE_SOURCE_SLOTS];
  __u64 around[PAGE_SOURCE_SLOTS];
  __u64 wasted[PAGE_SOURCE_SLOTS];
  __u64 removed;
  __u64 refaults;
};
CONTRACT_SIZE(struct file_batch, 8 * (7 + 4 * PAGE_SOURCE_SLOTS));

// A page's state in attach: PAGE_PRESENT, PAGE_EVICTED, PAGE_SOURCE_SHIFT as in contract.h, and
enum {
  PAGE_TOUCHED = 4,  // a fault or a read was for it
  PAGE_AROUND = 8,   // in the window of a fault for another page
};
struct chunk_key {
  __u64 mapping;
  __u64 chunk;
};
CONTRACT_SIZE(struct chunk_key, 16);

struct thread_waits {
  __u32 tgid;
  __u32 reserved;
  char name[TARGET_NAME];
  __u64 first_ns;  // first seen waiting
  __u64 faults;    // that waited or read
  __u64 fault_ns, read_ns, mmap_lock_ns, futex_ns;
};
CONTRACT_SIZE(struct thread_waits, 24 + 6 * 8);

// What did not fit: files and threads, each once, as far as the table of those left out (left_out) holds
// them.
enum { MOST_LEFT_OUT = 65536 };
struct attach_losses {
  __u64 files, threads, chunks, targets;
  __u64 hint_files;  // hints of which the file could not be told
};
CONTRACT_SIZE(struct attach_losses, 40);

// One mapping of, or one descriptor on, a regular file of a target: what the iterators write.
enum { PATH_ROOM = 1024 };
struct mapping_record {
  __u64 mapping;  // address_space; 0: none
  __u64 start, end;
  __u64 flags;  // vm_flags; 0: a descriptor
  __u64 inode;
  __u64 size_bytes;
  __u64 resident_pages;
  __u32 device;
  __u32 unlinked;  // the name by which it was opened is gone
  __u32 tgid;
  __u32 path_bytes;  // with the 0 at the end; 0: unknown
  char path[PATH_ROOM];
};
CONTRACT_SIZE(struct mapping_record, 72 + PATH_ROOM);
