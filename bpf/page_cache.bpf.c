// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which pages of the followed file enter the page cache, who brings them in, how many leave it, and were they
// used before they left (page_ledger.bpf.h)?
//
// Attaches to filemap:mm_filemap_add_to_page_cache and _delete_from_page_cache, whose one argument is the
// folio since 5.17 (a page before: refused by the types, not supported). The events fire for the whole
// system; the file is told by its address_space, so they count other processes' pages too.
//
// Who brought a page is told by the task that adds it and the system call it is in; nothing is kept for it.
// Pages asked for and pages read ahead are separated page by page, whatever the size of the folio.
//
// Cost: about 55 ns per folio of one page more than an empty program, where pages are added in a row; up to
// three times that where each comes after a wait for I/O. A few ns for a folio of any other file.
//
// Can't see: shmem and DAX (no events). The range that io_uring asked for: all its pages count as read.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_pages.bpf.h"
#include "bpf/attach_places.bpf.h"
#include "bpf/core_fixes.bpf.h"
#include "bpf/folio_census.bpf.h"
#include "bpf/page_ledger.bpf.h"
#include "bpf/page_ranges.bpf.h"
#include "bpf/registers.bpf.h"
#include "bpf/target.bpf.h"
#include "bpf/uring_worker.bpf.h"

// ---- who brings pages in ---------------------------------------------------------------------------------

// The system call that the thread is in; CALL_NONE outside of any, as in a fault from user mode. The syscalls
// probe, where it is on, has seen most calls begin, which spares the registers.
static __always_inline enum followed_call present_call(struct task_struct* task,
                                                       const struct thread_state* thread) {
  if (thread->call != CALL_NONE) return thread->call;
  __s64 number = syscall_number(entry_registers(task));
  return number == -1 ? CALL_NONE : followed_call_of(number);
}

// A start that its end never followed must not claim pages of a later system call.
static __always_inline bool in_fault(struct task_struct* task, const struct thread_state* thread) {
  if (!thread->fault_ns) return false;
  return thread->fault_in_kernel || present_call(task, thread) == CALL_NONE;
}

static __always_inline struct bringers brought_by(enum page_source source) {
  return (struct bringers){.all = source};
}

// Is the fault under way on this file?
static __always_inline bool faults_on(const struct task_struct* task, __u64 mapping) {
  if (!cfg.many) return true;  // fault_page is of the followed file, or none
  struct thread_place* place = thread_place(task);
  return place && place->fault_mapping == mapping;
}

static __always_inline struct bringers who_brings(__u64 mapping, struct page_range folio) {
  struct task_struct* task = bpf_get_current_task_btf();
  if (task->flags & PF_KTHREAD || !belongs_to_target(task)) return brought_by(PAGE_BY_OTHER);
  // A worker thread that io_uring made in the target: it has no system call of its own.
  if (task->flags & PF_IO_WORKER) return brought_by(worker_hints(task) ? PAGE_BY_HINT : PAGE_BY_READ);

  struct thread_state* thread = thread_state(task);
  if (!thread) return brought_by(PAGE_BY_OTHER);

  if (in_fault(task, thread)) {
    __u64 page = thread->fault_page;
    // another mapping of the file than the followed one
    if (page == NO_PAGE || !faults_on(task, mapping)) return brought_by(PAGE_BY_OTHER);
    if (page >= folio.first && page < folio.end) thread->fault_brought = 1;
    return (struct bringers){PAGE_BY_READAHEAD, PAGE_BY_FAULT, {page, page + 1}};
  }

  enum followed_call call = present_call(task, thread);
  thread->call_added += folio.end - folio.first;
  switch (call) {
  case CALL_MADVISE:
  case CALL_PROCESS_MADVISE:
  case CALL_FADVISE64:
  case CALL_READAHEAD: return brought_by(PAGE_BY_HINT);
  case CALL_IO_URING_ENTER: return brought_by(PAGE_BY_READ);
  case CALL_READ:
  case CALL_READV:
  case CALL_PREAD64:
  case CALL_PREADV:
  case CALL_PREADV2: return (struct bringers){PAGE_BY_READAHEAD, PAGE_BY_READ, asked_for(task, call, 0)};
  default: return brought_by(PAGE_BY_OTHER);
  }
}

// ---- folios of more than one page ------------------------------------------------------------------------

struct folio_lives {
  struct counters* c;
  __u64 first;
  struct bringers who;
};

static long next_life_begins(__u32 index, struct folio_lives* lives) {
  __u64 page = lives->first + index;
  life_begins(lives->c, page, bringer_of(&lives->who, page));
  return 0;
}

static long next_life_ends(__u32 index, struct folio_lives* lives) {
  life_ends(lives->c, lives->first + index);
  return 0;
}

static __always_inline void folio_begins(struct counters* c, struct page_range folio,
                                         const struct bringers* who) {
  __u64 pages = folio.end - folio.first;
  __u64 wanted = pages_in_both(folio, who->wanted);
  c->pages.added[who->all] += pages - wanted;
  c->pages.added[who->wanted_by] += wanted;
  struct folio_lives lives = {.c = c, .first = folio.first, .who = *who};
  bpf_loop(pages, next_life_begins, &lives, 0);
}

static __always_inline void folio_ends(struct counters* c, struct page_range folio) {
  struct folio_lives lives = {.c = c, .first = folio.first};
  bpf_loop(folio.end - folio.first, next_life_ends, &lives, 0);
}

// ---- attach's files ---------------------------------------------------------------------------------------

static __always_inline void file_pages_added(struct counters* c, struct file_batch* batch,
                                             struct page_range range, const struct bringers* who) {
  __u64 pages = range.end - range.first, wanted = pages_in_both(range, who->wanted);
  __u64 all = who->all & (PAGE_SOURCE_SLOTS - 1), wanted_by = who->wanted_by & (PAGE_SOURCE_SLOTS - 1);
  batch->added[all] += pages - wanted;
  batch->added[wanted_by] += wanted;
  if (all < PAGE_SOURCES) c->pages.added[all] += pages - wanted;
  if (wanted_by < PAGE_SOURCES) c->pages.added[wanted_by] += wanted;
  file_lives_begin(c, batch, range, who);
}

static __always_inline void file_pages_removed(struct counters* c, struct file_batch* batch,
                                               struct page_range range) {
  batch->removed += range.end - range.first;
  file_lives_end(c, batch, range);
}

// ---- programs --------------------------------------------------------------------------------------------
//   head  the first 8 bytes of the folio, its flags

static __always_inline int page_added(const struct folio* folio, __u64 mapping, __u64 head, __u64 index) {
  bool open = gate.open;
  if (!open && !folio_census) return 0;
  struct file_batch* batch = cfg.many ? batch_of(mapping, true) : 0;
  if (cfg.many && !batch) return 0;
  struct counters* c = my_counters();
  if (!c) return 0;
  __u64 pages = folio_pages(folio, head);
  if (!pages) {
    c->pages.lost++;
    return 0;
  }
  if (folio_census) count_order(pages);
  if (!open) return 0;
  struct page_range range = {index, index + pages};
  struct bringers who = who_brings(mapping, range);
  if (batch) {
    file_pages_added(c, batch, range, &who);
    return 0;
  }
  if (pages > 1) {
    folio_begins(c, range, &who);
    return 0;
  }
  enum page_source source = bringer_of(&who, index);
  c->pages.added[source]++;
  life_begins(c, index, source);
  return 0;
}

static __always_inline int page_removed(const struct folio* folio, __u64 mapping, __u64 head, __u64 index) {
  if (!gate.open) return 0;
  struct file_batch* batch = cfg.many ? batch_of(mapping, false) : 0;
  if (cfg.many && !batch) return 0;
  struct counters* c = my_counters();
  if (!c) return 0;
  __u64 pages = folio_pages(folio, head);
  c->pages.removed += pages;
  c->pages.lost += !pages;
  if (batch) {
    if (pages) file_pages_removed(c, batch, (struct page_range){index, index + pages});
    return 0;
  }
  if (pages > 1) {
    folio_ends(c, (struct page_range){index, index + pages});
    return 0;
  }
  if (pages) life_ends(c, index);
  return 0;
}

SEC("?tp_btf/mm_filemap_add_to_page_cache")
int on_page_added__tp_btf(__u64* ctx) {
  const struct folio* folio = (const void*)ctx[0];
  __u64 mapping = (__u64)folio->mapping;
  if (!cfg.many && mapping != followed_mapping) return 0;
  return page_added(folio, mapping, *(const __u64*)folio, folio->index);
}

SEC("?tp_btf/mm_filemap_delete_from_page_cache")
int on_page_removed__tp_btf(__u64* ctx) {
  const struct folio* folio = (const void*)ctx[0];
  __u64 mapping = (__u64)folio->mapping;
  if (!cfg.many && mapping != followed_mapping) return 0;
  return page_removed(folio, mapping, *(const __u64*)folio, folio->index);
}

static __always_inline __u64 head_of(const struct folio* folio) {
  __u64 head = 0;
  bpf_probe_read_kernel(&head, sizeof(head), folio);
  return head;
}

SEC("?raw_tp/mm_filemap_add_to_page_cache")
int on_page_added__raw_tp(__u64* ctx) {
  const struct folio* folio = (const void*)ctx[0];
  __u64 mapping = (__u64)BPF_CORE_READ(folio, mapping);
  if (!cfg.many && mapping != followed_mapping) return 0;
  return page_added(folio, mapping, head_of(folio), BPF_CORE_READ(folio, index));
}

SEC("?raw_tp/mm_filemap_delete_from_page_cache")
int on_page_removed__raw_tp(__u64* ctx) {
  const struct folio* folio = (const void*)ctx[0];
  __u64 mapping = (__u64)BPF_CORE_READ(folio, mapping);
  if (!cfg.many && mapping != followed_mapping) return 0;
  return page_removed(folio, mapping, head_of(folio), BPF_CORE_READ(folio, index));
}
