// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The page ledger: was a page used between entering the cache and leaving it, and how long did it stay? The
// target says what it uses, by marking each page of the file after it has read from it (contract.h, struct
// ledger_chunk). So a use that the kernel itself can't see, such as one through a page table that
// fault-around filled, counts, and a neighbour that is only mapped does not.
//
// A page's mark is judged when it leaves, and by user space for those still there at the end of the window. A
// mark may come after its page has left already; it is then found when the page enters again, or at the end,
// and the page's last life counts as used after all. What remains: evicted, added again and only then marked,
// the mark is believed for the new life instead of the old.
//
// The target also marks what a back-off kept it from hinting at. Such a mark is found when its page enters:
// then it was absent.
//
// The kernel keeps a folio locked while it enters or leaves, so no two CPUs write one page's word at a time.
// The maps are made as large as the file; pages beyond are not in the ledger.
//
// Cost: five bytes of kernel memory per page of the file; about 15 ns per folio of one page. Clock: jiffies,
// as a look at it costs a load, where the exact time costs 25 ns.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/histogram.bpf.h"
#include "bpf/target.bpf.h"

enum { BPF_F_MMAPABLE = 1 << 10 };  // include/uapi/linux/bpf.h

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // the loader knows how many, at most LEDGER_CHUNKS, here and below
  __type(key, __u32);
  __type(value, struct ledger_chunk);
} touches SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct life_chunk);
} page_lives SEC(".maps");

// Which chunks of page_lives are not all zero, so that nobody reads or clears the rest.
__u8 used_chunks[LEDGER_CHUNKS];

// The first tick of the window in which a page entered or left; 0: none did.
__u64 first_tick;

// ---- finding a page
// ----------------------------------------------------------------------------------------

static __always_inline __u64 place_in_chunk(__u64 page) {
  barrier_var(page);
  return page & (LEDGER_CHUNK_PAGES - 1);
}

// Null, here and below: the page is not in the ledger.
static __always_inline __u32* life_of(__u64 page) {
  __u32 chunk = page / LEDGER_CHUNK_PAGES;
  struct life_chunk* lives = bpf_map_lookup_elem(&page_lives, &chunk);
  return lives ? &lives->pages[place_in_chunk(page)] : 0;
}

// The same for who writes to it.
static __always_inline __u32* changing_life_of(__u64 page) {
  __u32* life = life_of(page);
  __u8* used = &used_chunks[page / LEDGER_CHUNK_PAGES & (LEDGER_CHUNKS - 1)];
  if (life && !*used) *used = 1;
  return life;
}

static __always_inline __u8* mark_of(__u64 page) {
  __u32 chunk = page / LEDGER_CHUNK_PAGES;
  struct ledger_chunk* marks = bpf_map_lookup_elem(&touches, &chunk);
  return marks ? &marks->pages[place_in_chunk(page)] : 0;
}

static __always_inline __u64 source_in(__u32 life) {
  return life >> PAGE_SOURCE_SHIFT & (PAGE_SOURCE_SLOTS - 1);
}

static __always_inline __u64 ticks_so_far(void) {
  __u64 first = first_tick;  // before the clock, which another CPU may have looked at meanwhile
  __u64 now = bpf_jiffies64();
  if (!first) first_tick = first = now;
  return now - first;
}

// ---- one page's life
// -----------------------------------------------------------------------------------------

// What the target had to say of a page that enters.
static __always_inline void heed_mark(struct counters* c, __u64 page, __u32 before) {
  __u8* mark = mark_of(page);
  if (!mark) return;
  if (*mark == (__u8)gate.mark) {
    if (before & PAGE_ENDED_UNUSED) c->pages.used_late[source_in(before)]++;
    *mark = 0;
  } else if (*mark == (__u8)(gate.mark | MARK_WITHHELD)) {
    c->hints.withheld++;
    *mark = 0;
  }
}

static __always_inline void life_begins(struct counters* c, __u64 page, enum page_source source) {
  __u32* life = changing_life_of(page);
  if (!life) return;
  __u32 before = *life;

  // A page that was not in the cache in this window has no mark of a use, so most spare the look at it.
  if (before || target.marks_withheld) heed_mark(c, page, before);
  if (before & PAGE_EVICTED) c->pages.refaults++;
  __u64 birth = ticks_so_far();
  if (birth > BIRTH_LAST) birth = BIRTH_LAST;
  *life = PAGE_PRESENT | source << PAGE_SOURCE_SHIFT | (__u32)birth << PAGE_BIRTH_SHIFT;
}

static __always_inline void life_ends(struct counters* c, __u64 page) {
  __u32* life = changing_life_of(page);
  __u8* mark = mark_of(page);
  if (!life || !mark) return;
  __u32 before = *life;
  bool used = *mark == (__u8)gate.mark;
  if (used) *mark = 0;  // it has told what it can, and makes room for one of a hint withheld

  if (!(before & PAGE_PRESENT)) {
    *life = before | PAGE_EVICTED;
    return;
  }
  __u64 birth = before >> PAGE_BIRTH_SHIFT;
  if (birth != BIRTH_LAST) histogram_add(HISTOGRAM_PAGE_AGES, (ticks_so_far() - birth) * cfg.tick_ns);
  if (used) {
    c->pages.used[source_in(before)]++;
    *life = PAGE_EVICTED;
  } else {
    c->pages.wasted[source_in(before)]++;
    *life = (before & ~PAGE_PRESENT) | PAGE_EVICTED | PAGE_ENDED_UNUSED;
  }
}

// A thread of the target had to wait for a page: if a hint brought it, and nobody has used it before, the
// hint came late.
static __always_inline void page_waited_for(struct counters* c, __u64 page) {
  __u32* life = life_of(page);
  const __u8* mark = mark_of(page);
  if (!life || !mark) return;
  __u32 now = *life;
  if (!(now & PAGE_PRESENT) || now & PAGE_LATE || source_in(now) != PAGE_BY_HINT) return;
  if (*mark == (__u8)gate.mark) return;
  // Several threads may wait for one page.
  if (!(__sync_fetch_and_or(life, PAGE_LATE) & PAGE_LATE)) c->hints.late++;
}
