// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What became of the pages of attach's files. The target does not mark what it uses, so that a page's use is
// known only where it showed: a fault was for it, or a read call asked for it. A page that the kernel mapped
// beside another page's fault may have been used unseen. So each life ends as touched, as mapped around, or
// as never mapped, and waste is an interval.
//
// A byte per page, in chunks that come into being with the first page that enters. Pages come and go in runs
// of one file, so each CPU counts a run by itself and adds it to the file when another file has its turn: a
// look at the file and an atomic addition for each page would cost twice as much.
//
// Can't see: lives that began before the watch; uses of pages that were mapped before it.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/page_ledger.bpf.h"
#include "bpf/page_ranges.bpf.h"
#include "bpf/target.bpf.h"

// Where a chunk is in chunk_pool.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, struct chunk_key);
  __type(value, __u32);
} file_chunks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct ledger_chunk);
} chunk_pool SEC(".maps");

__u32 chunks_taken;

static __always_inline struct ledger_chunk* chunk_at(__u32 place) {
  return bpf_map_lookup_elem(&chunk_pool, &place);
}

static __always_inline __u32* known_place(__u64 mapping, __u64 page) {
  struct chunk_key key = {.mapping = mapping, .chunk = page / LEDGER_CHUNK_PAGES};
  return bpf_map_lookup_elem(&file_chunks, &key);
}

static __always_inline struct ledger_chunk* known_chunk(__u64 mapping, __u64 page) {
  __u32* place = known_place(mapping, page);
  return place ? chunk_at(*place) : 0;
}

// Takes a chunk out of the pool. Where another CPU does so for the same pages, one of the two stays unused.
static __always_inline __u32* new_place(__u64 mapping, __u64 page) {
  __u32 place = __sync_fetch_and_add(&chunks_taken, 1);
  struct chunk_key key = {.mapping = mapping, .chunk = page / LEDGER_CHUNK_PAGES};
  if (chunk_at(place)) bpf_map_update_elem(&file_chunks, &key, &place, BPF_NOEXIST);
  __u32* known = bpf_map_lookup_elem(&file_chunks, &key);
  struct attach_losses* losses = known ? 0 : my_losses();
  if (losses) losses->chunks++;
  return known;
}

// Pages of one file come and go in runs: the place of the last one's chunk is remembered.
static __always_inline struct ledger_chunk* chunk_of_run(struct chunk_run* run, __u64 mapping, __u64 page,
                                                         bool make) {
  __u64 chunk = page / LEDGER_CHUNK_PAGES;
  if (run->known && run->chunk == chunk) return chunk_at(run->place);
  __u32* place = known_place(mapping, page);
  if (!place && make) place = new_place(mapping, page);
  if (!place) return 0;
  run->chunk = chunk;
  run->place = *place;
  run->known = 1;
  return chunk_at(*place);
}

// ---- runs of pages of one file ----------------------------------------------------------------------------

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct file_batch);
} file_batches SEC(".maps");

static __always_inline void hand_over(__u64* sum, __u64* part) {
  if (!*part) return;
  add_to(sum, *part);
  *part = 0;
}

static __always_inline void end_batch(struct file_batch* batch) {
  struct file_stats* file = known_file(batch->mapping);
  if (!file) return;
  for (int source = 0; source < PAGE_SOURCES; source++) {
    hand_over(&file->added[source], &batch->added[source]);
    hand_over(&file->used[source], &batch->used[source]);
    hand_over(&file->around[source], &batch->around[source]);
    hand_over(&file->wasted[source], &batch->wasted[source]);
  }
  hand_over(&file->removed, &batch->removed);
  hand_over(&file->refaults, &batch->refaults);
}

// Null: no file of the targets'.
//   enters  a page enters: of a thread of the targets, the file becomes one of theirs by this
static __always_inline struct file_batch* batch_of(__u64 mapping, bool enters) {
  __u32 zero = 0;
  struct file_batch* batch = bpf_map_lookup_elem(&file_batches, &zero);
  if (!batch || batch->mapping == mapping) return batch;
  if (!known_file(mapping)) {
    if (!enters || !counted_work(bpf_get_current_task_btf()) || !file_of_target(mapping)) return 0;
  }
  if (batch->mapping) end_batch(batch);
  batch->mapping = mapping;
  batch->entering.known = batch->leaving.known = 0;
  return batch;
}

// ---- a life's end and beginning
// ----------------------------------------------------------------------------

struct file_lives {
  struct counters* c;
  struct file_batch* batch;
  struct ledger_chunk* chunk;
  __u64 first;
  struct bringers who;
};

static __always_inline void file_life_begins(const struct file_lives* lives, __u64 page) {
  __u8* state = &lives->chunk->pages[place_in_chunk(page)];
  if (*state & PAGE_EVICTED) {
    lives->batch->refaults++;
    lives->c->pages.refaults++;
  }
  *state = PAGE_PRESENT | bringer_of(&lives->who, page) << PAGE_SOURCE_SHIFT;
}

static __always_inline void file_life_ends(const struct file_lives* lives, __u64 page) {
  __u8* state = &lives->chunk->pages[place_in_chunk(page)];
  __u8 before = *state;
  *state = PAGE_EVICTED;
  if (!(before & PAGE_PRESENT)) return;
  __u64 source = source_in(before);
  if (before & PAGE_TOUCHED)
    lives->batch->used[source]++;
  else if (before & PAGE_AROUND)
    lives->batch->around[source]++;
  else
    lives->batch->wasted[source]++;
}

static long next_file_life_begins(__u32 index, struct file_lives* lives) {
  file_life_begins(lives, lives->first + index);
  return 0;
}

static long next_file_life_ends(__u32 index, struct file_lives* lives) {
  file_life_ends(lives, lives->first + index);
  return 0;
}

static __always_inline void file_lives_begin(struct counters* c, struct file_batch* batch,
                                             struct page_range folio, const struct bringers* who) {
  struct file_lives lives = {.c = c,
                             .batch = batch,
                             .chunk = chunk_of_run(&batch->entering, batch->mapping, folio.first, true),
                             .first = folio.first,
                             .who = *who};
  if (!lives.chunk) return;
  __u64 pages = folio.end - folio.first;
  if (pages == 1)
    file_life_begins(&lives, folio.first);
  else
    bpf_loop(pages, next_file_life_begins, &lives, 0);
}

static __always_inline void file_lives_end(struct counters* c, struct file_batch* batch,
                                           struct page_range folio) {
  struct file_lives lives = {.c = c,
                             .batch = batch,
                             .chunk = chunk_of_run(&batch->leaving, batch->mapping, folio.first, false),
                             .first = folio.first};
  if (!lives.chunk) return;
  __u64 pages = folio.end - folio.first;
  if (pages == 1)
    file_life_ends(&lives, folio.first);
  else
    bpf_loop(pages, next_file_life_ends, &lives, 0);
}

// ---- uses -------------------------------------------------------------------------------------------------

static __always_inline void use_page(__u64 mapping, __u64 page, __u8 bit) {
  struct ledger_chunk* chunk = known_chunk(mapping, page);
  if (!chunk) return;
  __u8* state = &chunk->pages[place_in_chunk(page)];
  if (*state & PAGE_PRESENT) *state |= bit;
}

// A hint brought the page, and nobody has touched it yet.
static __always_inline bool waits_for_hinted(__u64 mapping, __u64 page) {
  struct ledger_chunk* chunk = known_chunk(mapping, page);
  if (!chunk) return false;
  __u8 state = chunk->pages[place_in_chunk(page)];
  return state & PAGE_PRESENT && !(state & PAGE_TOUCHED) && source_in(state) == PAGE_BY_HINT;
}

struct page_uses {
  struct ledger_chunk* chunk;
  __u64 first;
  __u64 bit;  // PAGE_TOUCHED or PAGE_AROUND
};

static long use_next_page(__u32 index, struct page_uses* uses) {
  __u8* state = &uses->chunk->pages[place_in_chunk(uses->first + index)];
  if (*state & PAGE_PRESENT) *state |= uses->bit;
  return 0;
}

// Those of [first, end) that lie in the chunk of `first`. Returns the page behind them.
static __always_inline __u64 use_pages_of_chunk(__u64 mapping, __u64 first, __u64 end, __u8 bit) {
  __u64 behind = (first / LEDGER_CHUNK_PAGES + 1) * LEDGER_CHUNK_PAGES;
  if (end < behind) behind = end;
  struct page_uses uses = {.chunk = known_chunk(mapping, first), .first = first, .bit = bit};
  if (uses.chunk) bpf_loop(behind - first, use_next_page, &uses, 0);
  return behind;
}

// Reads of more than 64 MiB are marked in their first part.
static __always_inline void use_pages(__u64 mapping, struct page_range range, __u8 bit) {
  __u64 page = range.first;
  for (int chunk = 0; chunk < 4 && page < range.end; chunk++)
    page = use_pages_of_chunk(mapping, page, range.end, bit);
}
