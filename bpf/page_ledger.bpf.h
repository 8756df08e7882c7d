// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The page ledger: was a page used between entering the cache and leaving it? The target says so, by marking
// each page of the file after it has read from it (contract.h, struct ledger_chunk). So a use that the kernel
// itself can't see, such as one through a page table that fault-around filled, counts, and a neighbour that
// is only mapped does not.
//
// A page's mark is judged when it leaves, and by user space for those still there at the end of the window. A
// mark may come after its page has left already; it is then found when the page enters again, or at the end,
// and the page's last life counts as used after all. What remains: evicted, added again and only then marked,
// the mark is believed for the new life instead of the old.
//
// The kernel keeps a folio locked while it enters or leaves, so no two CPUs write one page's state at a time.
// The maps are made as large as the file; pages beyond are not in the ledger.
//
// Cost: two bytes of kernel memory per page of the file; about 15 ns per folio of one page.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/target.bpf.h"

// Pages [first, end) of a file.
struct page_range {
  __u64 first, end;
};

static __always_inline __u64 pages_in_both(struct page_range a, struct page_range b) {
  __u64 first = a.first > b.first ? a.first : b.first;
  __u64 end = a.end < b.end ? a.end : b.end;
  return end > first ? end - first : 0;
}

// Who brings the pages of a folio: `wanted_by` those of the range that was wanted, `all` the rest.
struct bringers {
  enum page_source all, wanted_by;
  struct page_range wanted;
};

enum { BPF_F_MMAPABLE = 1 << 10 };  // include/uapi/linux/bpf.h

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);  // the loader knows how many, here and below
  __type(key, __u32);
  __type(value, struct ledger_chunk);
} touches SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct ledger_chunk);
} page_states SEC(".maps");

// Which chunks of page_states are not all zero, so that nobody reads or clears the rest.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} used_chunks SEC(".maps");

// The part of the ledger that a folio's pages are in. No folio lies in two chunks: it begins at a multiple of
// its size, and none has more than LEDGER_CHUNK_PAGES.
struct ledger_part {
  struct ledger_chunk *touches, *states;
};

// False: the pages are not in the ledger.
static __always_inline bool find_part(struct ledger_part* part, __u64 page) {
  __u32 chunk = page / LEDGER_CHUNK_PAGES;
  part->touches = bpf_map_lookup_elem(&touches, &chunk);
  part->states = bpf_map_lookup_elem(&page_states, &chunk);
  __u64* used = bpf_map_lookup_elem(&used_chunks, &chunk);
  if (!part->touches || !part->states || !used) return false;
  if (!*used) *used = 1;
  return true;
}

static __always_inline __u64 place_in_chunk(__u64 page) {
  barrier_var(page);
  return page & (LEDGER_CHUNK_PAGES - 1);
}

static __always_inline __u64 source_in(__u8 state) {
  return state >> PAGE_SOURCE_SHIFT & (PAGE_SOURCE_SLOTS - 1);
}

static __always_inline void life_begins(struct counters* c, const struct ledger_part* part, __u64 page,
                                        const struct bringers* who) {
  __u64 place = place_in_chunk(page);
  __u8* state = &part->states->pages[place];
  __u8 before = *state;

  // A page that was not in the cache in this window has no mark, so most spare the look at it.
  if (before) {
    __u8* mark = &part->touches->pages[place];
    if (*mark == (__u8)gate.mark) {
      if (before & PAGE_ENDED_UNUSED) c->pages.used_late[source_in(before)]++;
      *mark = 0;
    }
    if (before & PAGE_EVICTED) c->pages.refaults++;
  }
  bool wanted = page >= who->wanted.first && page < who->wanted.end;
  enum page_source source = wanted ? who->wanted_by : who->all;
  *state = PAGE_PRESENT | source << PAGE_SOURCE_SHIFT;
}

static __always_inline void life_ends(struct counters* c, const struct ledger_part* part, __u64 page) {
  __u64 place = place_in_chunk(page);
  __u8* state = &part->states->pages[place];
  __u8 before = *state;

  if (!(before & PAGE_PRESENT)) {
    *state = before | PAGE_EVICTED;
  } else if (part->touches->pages[place] == (__u8)gate.mark) {
    c->pages.used[source_in(before)]++;
    *state = PAGE_EVICTED;
  } else {
    c->pages.wasted[source_in(before)]++;
    *state = (before & ~PAGE_PRESENT) | PAGE_EVICTED | PAGE_ENDED_UNUSED;
  }
}

// ---- folios of more than one page
// ----------------------------------------------------------------------------

struct folio_lives {
  struct counters* c;
  struct ledger_part part;
  __u64 first;
  struct bringers who;
};

static long next_life_begins(__u32 index, struct folio_lives* lives) {
  life_begins(lives->c, &lives->part, lives->first + index, &lives->who);
  return 0;
}

static long next_life_ends(__u32 index, struct folio_lives* lives) {
  life_ends(lives->c, &lives->part, lives->first + index);
  return 0;
}

static __always_inline void lives_begin(struct counters* c, struct page_range folio,
                                        const struct bringers* who) {
  struct ledger_part part;
  if (!find_part(&part, folio.first)) return;
  __u64 pages = folio.end - folio.first;
  if (pages == 1) {
    life_begins(c, &part, folio.first, who);
    return;
  }
  struct folio_lives lives = {.c = c, .part = part, .first = folio.first, .who = *who};
  bpf_loop(pages, next_life_begins, &lives, 0);
}

static __always_inline void lives_end(struct counters* c, struct page_range folio) {
  struct ledger_part part;
  if (!find_part(&part, folio.first)) return;
  __u64 pages = folio.end - folio.first;
  if (pages == 1) {
    life_ends(c, &part, folio.first);
    return;
  }
  struct folio_lives lives = {.c = c, .part = part, .first = folio.first};
  bpf_loop(pages, next_life_ends, &lives, 0);
}
