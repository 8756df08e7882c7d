#pragma once
// What the BPF programs and the user-space loader agree on: the layout of everything that crosses between
// them. Read by clang for BPF (C) and by the C++ compiler, so: fixed-width types, natural alignment, padding
// written out, sizes asserted on both sides.
//
// Units: nanoseconds of CLOCK_MONOTONIC, bytes, pages (never folios).

#ifndef __bpf__
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define CONTRACT_SIZE(type, bytes)                                                                           \
  static_assert(sizeof(type) == (bytes), #type " differs between BPF and C++")
#else
#define CONTRACT_SIZE(type, bytes)                                                                           \
  _Static_assert(sizeof(type) == (bytes), #type " differs between BPF and C++")
#endif

// ---- the gate ---------------------------------------------------------------------------------------
// A page shared with the target, which opens the gate when its measured window begins and closes it at the
// end. Nothing counts while it is closed.
struct gate {
  __u32 open;
  __u32 mark;  // the byte with which the target marks pages in the ledger, 1 to 127; another at each attach
};
CONTRACT_SIZE(struct gate, 8);

// ---- configuration, fixed at load --------------------------------------------------------------------
enum { SYSCALL_NUMBERS = 512 };  // a power of two; the largest number on x86-64 and arm64 is below 480

struct config {
  __u32 page_shift;
  // Neither the mmap_lock hook nor per-VMA locks: a sleep in a fault may be one on mmap_lock, so that only a
  // major fault counts as having waited for I/O.
  __u32 waited_needs_major;
  __u32 iter_tgid;  // whose descriptor iter_fd is the followed file
  __u32 iter_fd;
  __u64 tick_ns;                // length of a tick of the kernel's clock, jiffies
  __u32 many;                   // attach: any number of targets and of files (attach_contract.h)
  __u32 mapping_paths;          // attach: the kernel lets a program ask for the path of a mapped file
  __u64 stacks;                 // of faults that waited (log_contract.h)
  __u64 window_ns;              // length of the log of single events, 0: none
  __u8 calls[SYSCALL_NUMBERS];  // system call number -> enum followed_call
};
CONTRACT_SIZE(struct config, 48 + SYSCALL_NUMBERS);

// ---- the target, set at each attach ------------------------------------------------------------------
struct target {
  __u32 tgid;
  __u32 epoch;            // number of this attach: state of threads from an earlier one is not believed
  __u64 mapping_address;  // of the followed file in the target
  __u64 mapping_bytes;    // 0: not mapped
  // A thread that is there to disturb the others: of what it does nothing is counted but how long it holds
  // mmap_lock. 0: none.
  __u32 excluded_tid;
  // The target marks the pages of hints that it withholds: every page that enters is looked up.
  __u32 marks_withheld;
};
CONTRACT_SIZE(struct target, 32);

// ---- the page ledger ----------------------------------------------------------------------------------
// Of each page of the followed file a byte in the map `touches` and a word in the map `page_lives`, as arrays
// of chunks. The target writes gate.mark into `touches` for each page after it has read from it; a byte that
// is not the present mark is none, so that marks need no clearing. Before it reads, it writes gate.mark |
// MARK_WITHHELD for the pages of a hint that a back-off withheld, unless their mark is the present one.
enum { LEDGER_CHUNK_PAGES = 4096, LEDGER_CHUNKS = 4096, MARK_WITHHELD = 128 };
struct ledger_chunk {
  __u8 pages[LEDGER_CHUNK_PAGES];
};
CONTRACT_SIZE(struct ledger_chunk, LEDGER_CHUNK_PAGES);

struct life_chunk {
  __u32 pages[LEDGER_CHUNK_PAGES];
};
CONTRACT_SIZE(struct life_chunk, 4 * LEDGER_CHUNK_PAGES);

// A page's life is the time from its entering the cache to its leaving it; only those that began in the
// window count. Its word holds these bits, from bit PAGE_SOURCE_SHIFT on who brought the page (enum
// page_source), and from bit PAGE_BIRTH_SHIFT on when the life began: in ticks (config.tick_ns) since the
// first one of the window, BIRTH_LAST for all that are later, which are 19 hours at 250 ticks a second.
enum {
  PAGE_PRESENT = 1,       // such a life is under way
  PAGE_EVICTED = 2,       // the page is not there, but was in this window
  PAGE_ENDED_UNUSED = 4,  // its last life ended without a mark, so far
  PAGE_LATE = 8,          // brought by a hint, and still in flight when it was touched
  PAGE_SOURCE_SHIFT = 4,
  PAGE_BIRTH_SHIFT = 8,
};
enum { BIRTH_LAST = 0xffffff };

// ---- system calls -----------------------------------------------------------------------------------
// The calls that are followed, in the order in which they are reported. userspace/probes/calls.cpp gives
// each its number and its name.
enum followed_call {
  CALL_NONE,   // none seen: the call began before the window
  CALL_OTHER,  // not followed
  CALL_MADVISE,
  CALL_PROCESS_MADVISE,
  CALL_PREAD64,
  CALL_PREADV,
  CALL_PREADV2,
  CALL_READ,
  CALL_READV,
  CALL_FADVISE64,
  CALL_READAHEAD,
  CALL_MINCORE,
  CALL_IO_URING_ENTER,
  CALL_MMAP,
  CALL_MUNMAP,
  CALL_MPROTECT,
  CALL_FUTEX,
  CALLS,
};
// Room in arrays of calls: a power of two, so that an index can be masked where the verifier of 6.1 loses
// sight of a comparison.
enum { CALL_SLOTS = 32 };

// One combination of call, advice and result; advice is NO_ADVICE but for calls that advise.
enum { NO_ADVICE = 0xffff, RESULT_KINDS = 1024 };
struct result_key {
  __u16 call;
  __u16 advice;
  __u32 error;  // errno, 0: success
};
CONTRACT_SIZE(struct result_key, 8);

struct result_count {
  __u64 calls;
  __u64 misaligned;  // madvise whose start is not a multiple of the page size
  __u64 requested_bytes;
};
CONTRACT_SIZE(struct result_count, 24);

// ---- histograms -------------------------------------------------------------------------------------
// Log-linear, 3 bits below the leading one: the layout of analysis/histogram.h with kKernelSubBits.
enum { HISTOGRAM_SUB_BITS = 3, HISTOGRAM_BINS = 512 };
struct histogram {
  __u64 sum;
  __u64 max;
  __u64 inverted_min;  // ~min, so that a zeroed histogram is an empty one
  __u64 bins[HISTOGRAM_BINS];
};
CONTRACT_SIZE(struct histogram, 24 + 8 * HISTOGRAM_BINS);

// What happened in a fault.
enum fault_kind {
  FAULT_MAPPED,  // the page was in the cache
  FAULT_WAITED,  // for I/O that something else had started
  FAULT_READ,    // this fault brought the page in
  FAULT_OTHER,   // outside the followed file's mapping
  FAULT_KINDS,
};

enum lock_side { LOCK_BY_READERS, LOCK_BY_WRITERS, LOCK_SIDES };

// Indexes of the map `histograms`.
enum {
  HISTOGRAM_FAULTS,                                       // + enum fault_kind: start to end of a fault
  HISTOGRAM_LOCK_WAITS = HISTOGRAM_FAULTS + FAULT_KINDS,  // + enum lock_side: asked for to acquired
  // + enum lock_side: acquired to released; of the excluded thread, too, as others wait for it
  HISTOGRAM_LOCK_HOLDS = HISTOGRAM_LOCK_WAITS + LOCK_SIDES,
  HISTOGRAM_CALLS = HISTOGRAM_LOCK_HOLDS + LOCK_SIDES,  // + enum followed_call: entry to exit
  HISTOGRAM_PAGE_AGES = HISTOGRAM_CALLS + CALLS,        // of pages that left: since they entered, to a tick
  HISTOGRAM_READAHEAD_PAGES,                            // pages of a window that the kernel reads ahead
  HISTOGRAM_AROUND_PAGES,  // pages of a window that a fault looks at for cached neighbours
  HISTOGRAM_IO_LATENCY,    // of read requests to the device, made to completed
  HISTOGRAM_IO_BYTES,      // their sizes
  HISTOGRAM_IO_DEPTH,      // requests in flight when one was added, itself included
  HISTOGRAM_RECLAIM,       // direct reclaim, begin to end
  HISTOGRAMS,
};

// ---- counters ---------------------------------------------------------------------------------------
struct syscall_counters {
  __u64 succeeded[CALL_SLOTS];  // all but those that advise, which are counted by advice
  __u64 unmatched;              // exits without their entry
  __u64 lost;                   // the map of results was full
};

struct fault_counters {
  __u64 minor, major;                     // as the kernel accounts them
  __u64 under_vma_lock, under_mmap_lock;  // faults on the followed mapping
  __u64 unmatched;                        // ends without their start
  __u64 abandoned;                        // starts without an end: the fault failed, or a copy gave up
  __u64 retried;                          // passes of completed faults beside the first
  __u64 mapped_pages;                     // pages that faults mapped, neighbours included
};

// The longest faults of each CPU.
enum { LONG_FAULTS = 16 };
struct long_fault {
  __u64 ns;
  __u64 page;  // of the followed file; ~0: outside its mapping
  __u32 tid;
  __u32 kind;     // enum fault_kind
  __u64 mapping;  // address_space of the file, in attach
};
CONTRACT_SIZE(struct long_fault, 32);
struct long_faults {
  __u64 least;  // ns of the shortest entry: no shorter fault gets in
  struct long_fault entries[LONG_FAULTS];
  // The most threads that were in faults which the file served (see bpf/fault_service.bpf.h) when one of
  // them, that read or waited, ended here.
  __u64 most_blocked;
};
CONTRACT_SIZE(struct long_faults, 16 + 32 * LONG_FAULTS);

// What became of hints (WILLNEED, readahead(2)) on the followed file, in pages.
struct hint_counters {
  __u64 needless;   // in the cache already
  __u64 truncated;  // beyond what the kernel reads for one call
  __u64 late;       // brought by a hint, still in flight when touched
  __u64 withheld;   // of hints that a back-off withheld: absent, as they entered the cache afterwards
  __u64 unplaced;   // accepted hints whose pages could not be told
};

// Who brought pages of the followed file into the cache.
enum page_source {
  PAGE_BY_FAULT,      // the page that a fault of the target was for
  PAGE_BY_READAHEAD,  // another page than a fault or a read of the target asked for
  PAGE_BY_HINT,       // madvise, process_madvise, fadvise64, readahead of the target
  PAGE_BY_READ,       // asked for by read-type calls and io_uring of the target
  PAGE_BY_OTHER,      // other processes, kernel threads, other calls of the target
  PAGE_SOURCES,
};

enum { PAGE_SOURCE_SLOTS = 8 };  // a power of two, as CALL_SLOTS

struct page_counters {
  __u64 added[PAGE_SOURCES];
  // Lives that ended in the window. A mark that comes after its page has left moves one from wasted to used,
  // and is counted as used_late beside the two.
  __u64 used[PAGE_SOURCE_SLOTS];
  __u64 wasted[PAGE_SOURCE_SLOTS];
  __u64 used_late[PAGE_SOURCE_SLOTS];
  __u64 refaults;  // pages that entered after they had left in the window
  __u64 removed;
  __u64 lost;  // folios whose size could not be read, events of the hook that could not be placed
};

// Of all threads but the excluded one.
struct lock_counters {
  __u64 acquired[LOCK_SIDES];
  __u64 contended[LOCK_SIDES];  // after a failed attempt, or a sleep
  __u64 slow_path[LOCK_SIDES];  // the kernel's own slow path (lock:contention_begin)
  __u64 holders_lost;           // the map of holders was full
};

// Windows that the kernel decides to read ahead of the followed file.
struct readahead_counters {
  __u64 sync;        // at a missing page
  __u64 async;       // at the marked page of the window before
  __u64 orders[16];  // windows by the order of their folios
  __u64 mmap_miss_max;
};

// Read requests to the device for the followed file, whoever asked. Each field is written by one program, as
// requests are completed in interrupts.
struct io_counters {
  __u64 reads;
  __u64 bytes;
  __u64 lost;      // no room to remember a request
  __u64 unplaced;  // direct reads of the target's that can't be tied to any file
};

// Memory that the target's threads had to find themselves, and what unmapping costs them.
struct reclaim_counters {
  __u64 stalls;           // direct reclaim
  __u64 cgroup_stalls;    // of these, as a memory cgroup was at its limit
  __u64 reclaimed_pages;  // by them
  __u64 tlb_shootdowns;   // flushes of other CPUs' entries that the target's threads asked for
  __u64 swap_ins;         // pages
};

// Who held the target's mmap_lock when others of its threads wanted it.
enum { HOLDER_KINDS = 256, CALL_FAULT = CALLS };  // CALL_FAULT: in a page fault, no call

// Keys of results for operations of io_uring, which are no system calls.
enum { CALL_URING_MADVISE = CALLS + 1, CALL_URING_FADVISE };

struct holder_key {
  __u32 tid;
  __u32 call;  // enum followed_call, or CALL_FAULT
};
CONTRACT_SIZE(struct holder_key, 8);

// Nanoseconds, summed over threads. Waits inside a fault or a call are taken off it, so that none counts
// twice.
struct wait_counters {
  __u64 fault_ns;  // faults of kind FAULT_WAITED and FAULT_READ
  __u64 read_ns;   // calls that read, in which the thread slept
  __u64 lock_ns;   // contended mmap_lock; futex calls in which the thread slept
};

struct counters {
  struct syscall_counters syscalls;
  struct fault_counters faults;
  struct page_counters pages;
  struct hint_counters hints;
  struct lock_counters lock;
  struct readahead_counters readahead;
  struct io_counters io;
  struct reclaim_counters reclaim;
  struct wait_counters waits;
  __u64 threads_displaced;  // a thread's state was in use when another thread took its slot
};
CONTRACT_SIZE(struct counters, 8 * (CALL_SLOTS + 2 + 8 + PAGE_SOURCES + 3 * PAGE_SOURCE_SLOTS + 3 + 5 +
                                    3 * LOCK_SIDES + 1 + 19 + 4 + 5 + 3 + 1));

// What each CPU keeps for itself: sums, and what can't be added up.
struct cpu_counters {
  struct counters sums;
  struct long_faults longest;
};

enum { FOLIO_ORDERS = 32 };
