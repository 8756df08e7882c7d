// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reads of the device in the log of single events: who asked for each, and where in the file it begins. A
// bio is queued by the thread that wants the data, and issued by any; so the thread is remembered by the
// bio, then by the request that the bio has become.
#pragma once
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/block_io.bpf.h"
#include "bpf/events.bpf.h"

struct asker {
  __u32 tgid, tid;
  char thread[16];
  __u64 at;  // of the request
};

// By the addresses of struct bio and struct request, which differ.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, __u64);
  __type(value, struct asker);
} askers SEC(".maps");

// Whoever queues it: the address may have been another bio's before.
static __always_inline void remember_asker(const struct bio* bio) {
  if (!in_window(bpf_ktime_get_ns())) return;
  __u64 address = (__u64)bio;
  const struct task_struct* task = bpf_get_current_task_btf();
  if (!counted_work(task) || !reads(bio->bi_opf)) {
    bpf_map_delete_elem(&askers, &address);
    return;
  }
  struct asker asker = {.tgid = task->tgid, .tid = task->pid};
  bpf_probe_read_kernel(asker.thread, sizeof(asker.thread), task->comm);
  bpf_map_update_elem(&askers, &address, &asker, BPF_ANY);  // without room, the asker is not known
}

// Where in its file the pages of a bio begin; direct reads: not known.
static __always_inline __u64 place_in_file(const struct bio* bio) {
  const struct folio* folio = first_folio(bio);
  if (!is_cache(mapping_of(folio))) return NOT_KNOWN;
  __u64 vectors = (__u64)BPF_CORE_READ(bio, bi_io_vec);
  __u64 vector = vectors + (__u64)bio->bi_iter.bi_idx * bpf_core_type_size(struct bio_vec);
  __u64 page = (__u64)BPF_CORE_READ((const struct bio_vec*)vector, bv_page);
  __u64 behind = (page - (__u64)folio) / bpf_core_type_size(struct page);
  return ((BPF_CORE_READ(folio, index) + behind) << cfg.page_shift) +
         BPF_CORE_READ((const struct bio_vec*)vector, bv_offset);
}

// A request for a followed file goes to the driver. Of a bio that was too large for one request, the front
// part is a new one that leads to it.
static __always_inline void remember_request(const struct request* request) {
  if (!in_window(bpf_ktime_get_ns())) return;
  __u64 address = (__u64)request, bio = (__u64)request->bio, whole = (__u64)request->bio->bi_private;
  struct asker asker = {};
  struct asker* known = bpf_map_lookup_elem(&askers, &bio);
  if (known) {
    asker = *known;
    bpf_map_delete_elem(&askers, &bio);
  } else if ((known = bpf_map_lookup_elem(&askers, &whole))) {
    asker = *known;
  }
  asker.at = place_in_file(request->bio);
  bpf_map_update_elem(&askers, &address, &asker, BPF_ANY);
}

static __always_inline void log_device_read(const struct request* request, __u64 begin_ns, __u64 duration,
                                            __u64 mapping, __u64 bytes) {
  __u64 address = (__u64)request;
  struct event event = {.begin_ns = begin_ns,
                        .duration_ns = duration,
                        .mapping = mapping,
                        .at = NOT_KNOWN,
                        .bytes = bytes,
                        .kind = EVENT_DEVICE,
                        .advice = NO_ADVICE};
  const struct asker* asker = bpf_map_lookup_elem(&askers, &address);
  if (asker) {
    event.at = asker->at;
    event.tgid = asker->tgid;
    event.tid = asker->tid;
    __builtin_memcpy(event.thread, asker->thread, sizeof(event.thread));
    bpf_map_delete_elem(&askers, &address);
  }
  if (in_window(begin_ns)) log_event(&event);
}
