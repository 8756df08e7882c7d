// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which requests to the device read the followed file, how large are they, how long do they take, and how
// many of them are under way at once?
//
// Attaches to block:block_rq_issue, where a request goes to the driver, and block:block_rq_complete. Issue
// fires again for a request that the driver gave back, and often in another thread than the one that wants
// the data; so a request is told by what it reads (block_io.bpf.h) and counts when its last bytes have come.
// It is remembered in between, by its address: the kernel can't use it for anything else meanwhile. In a
// request of several bios the first one speaks for all.
//
// Some completions reach no program: on a virtual machine with 6.18 those that interrupted a thread of init,
// though ftrace saw them, and the kernel counts no miss. The next request at the same address gives them
// away: it was made later. They count as read, with what they asked for, but have no latency.
//
// A request is whoever's asked for the file, as the pages of the cache are. Latency is from the time that the
// kernel made the request (issued it, where the device keeps no statistics) to its completion.
//
// Attaches to block:block_bio_queue, too, in the thread that wants the data: a direct read of the target's
// that leads to no file is unplaced. File systems that don't use iomap for it (btrfs) have such.
//
// Completion happens in interrupts. The kernel never lets a program interrupt itself, and counts it as a
// miss, so a counter that one program alone writes needs no more than plain addition.
//
// Cost, empty programs included: about 1.2 to 1.6 us per request of the file (issue and completion, each
// after a wait that has left the processor's caches cold), 250 to 550 ns per bio that the target queues.
// Everybody else's requests pay one load and a branch, their reads four loads more at issue and a lookup at
// completion.
//
// Can't see: what lies below a device that copies into pages of its own (dm-crypt, md with parity); file
// systems without a block device.
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/attach_files.bpf.h"
#include "bpf/block_io.bpf.h"
#include "bpf/device_events.bpf.h"
#include "bpf/histogram.bpf.h"
#include "bpf/target.bpf.h"

enum { MOST_REQUESTS = 8192 };

struct read_in_flight {
  __u64 made_ns;
  __u64 bytes;  // that have come
  __u64 asked;
  __u64 mapping;
  __u64 unseen;  // requests at this address whose completion reached no program
  __u64 unseen_bytes;
  __u32 mark;  // of the window that it was issued in
  __u32 unused;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MOST_REQUESTS);
  __type(key, __u64);  // address of the struct request
  __type(value, struct read_in_flight);
} requests SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} request_depth SEC(".maps");

static __always_inline __u64* depth(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&request_depth, &zero);
}

static __always_inline int request_issued(const struct request* request) {
  if (!gate.open || !reads(request->cmd_flags)) return 0;
  __u64 mapping = followed_file_read(request->bio);
  if (!mapping) return 0;
  __u64 address = (__u64)request;
  struct read_in_flight read = {
      .made_ns = request->start_time_ns, .asked = request->__data_len, .mapping = mapping, .mark = gate.mark};
  struct read_in_flight* earlier = bpf_map_lookup_elem(&requests, &address);
  if (earlier) {
    if (!read.made_ns || read.made_ns == earlier->made_ns) return 0;  // given back by the driver
    if (read.mark == earlier->mark) {
      read.unseen = earlier->unseen + 1;
      read.unseen_bytes = earlier->unseen_bytes + earlier->asked;
      struct file_stats* file = cfg.many ? known_file(earlier->mapping) : 0;
      if (file) file_histogram_add(&file->io_bytes, earlier->asked);
    }
    *earlier = read;
    return 0;
  }
  if (!read.made_ns) read.made_ns = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&requests, &address, &read, BPF_NOEXIST)) {
    struct counters* c = my_counters();
    if (c) c->io.lost++;
    return 0;
  }
  if (cfg.window_ns) remember_request(request);
  __u64* in_flight = depth();
  if (in_flight) histogram_add(HISTOGRAM_IO_DEPTH, __sync_fetch_and_add(in_flight, 1) + 1);
  return 0;
}

static __always_inline int request_completed(const struct request* request, bool failed, __u32 bytes) {
  if (!reads(request->cmd_flags)) return 0;
  __u64 address = (__u64)request;
  struct read_in_flight* read = bpf_map_lookup_elem(&requests, &address);
  if (!read) return 0;
  if (!failed) read->bytes += bytes;
  if (bytes < request->__data_len) return 0;  // the rest is to come

  struct read_in_flight whole = *read;
  bpf_map_delete_elem(&requests, &address);
  __u64* in_flight = depth();
  if (in_flight) __sync_fetch_and_sub(in_flight, 1);
  struct counters* c = my_counters();
  if (!c || !gate.open || !whole.bytes) return 0;
  c->io.reads += 1 + whole.unseen;
  c->io.bytes += whole.bytes + whole.unseen_bytes;
  __u64 latency = bpf_ktime_get_ns() - whole.made_ns;
  histogram_add(HISTOGRAM_IO_LATENCY, latency);
  histogram_add(HISTOGRAM_IO_BYTES, whole.bytes);
  if (cfg.window_ns) log_device_read(request, whole.made_ns, latency, whole.mapping, whole.bytes);
  struct file_stats* file = cfg.many ? known_file(whole.mapping) : 0;
  if (!file) return 0;
  file_histogram_add(&file->io_ns, latency);
  file_histogram_add(&file->io_bytes, whole.bytes);
  return 0;
}

// A file, and not what a pointer that means something else happens to lead to.
static __always_inline bool is_file(const struct file* file) {
  __u64 mapping = (__u64)BPF_CORE_READ(file, f_mapping);
  return mapping && (__u64)BPF_CORE_READ(file, f_inode, i_mapping) == mapping;
}

static __always_inline int bio_queued(const struct bio* bio) {
  if (cfg.window_ns) remember_asker(bio);
  if (!counted_work(bpf_get_current_task_btf())) return 0;
  __u32 operation = bio->bi_opf;
  if (!reads(operation) || operation & REQ_META) return 0;
  const struct folio* folio = first_folio(bio);
  __u64 mapping = mapping_of(folio);
  if (is_cache(mapping) || is_swapped_in(folio, mapping) || is_file(file_of_direct(bio))) return 0;
  struct counters* c = my_counters();
  if (c) c->io.unplaced++;
  return 0;
}

SEC("?tp_btf/block_rq_issue")
int on_request_issued__tp_btf(__u64* ctx) {
  return request_issued((const struct request*)ctx[0]);
}

// (request, error, bytes): the error's type changed in 5.17, that 0 is none did not
SEC("?tp_btf/block_rq_complete")
int on_request_completed__tp_btf(__u64* ctx) {
  return request_completed((const struct request*)ctx[0], (__u8)ctx[1], ctx[2]);
}

SEC("?tp_btf/block_bio_queue")
int on_bio_queued__tp_btf(__u64* ctx) {
  return bio_queued((const struct bio*)ctx[0]);
}
