#include "userspace/probes/watch_maps.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace iotrace {

namespace {

// Calls `visit` with each key and value of a hash that is shared by all CPUs. Entries that come or go
// meanwhile may be met or not.
template<typename Key, typename Value, typename Visit> Status for_entries(bpf_map* map, Visit visit) {
  Key key{}, next{};
  const void* before = nullptr;
  Value value{};
  while (bpf_map_get_next_key(bpf_map__fd(map), before, &next) == 0) {
    key = next;
    before = &key;
    if (bpf_map_lookup_elem(bpf_map__fd(map), &key, &value) == 0) visit(key, value);
  }
  return {};
}

// The lives of a chunk's pages that have not ended.
void add_lives(const ledger_chunk& chunk, WatchedFile& file) {
  for (__u8 state : chunk.pages) {
    if (!(state & PAGE_PRESENT)) continue;
    const auto source = static_cast<std::size_t>(state >> PAGE_SOURCE_SHIFT) % PAGE_SOURCE_SLOTS;
    if (state & PAGE_TOUCHED)
      ++file.touched[source];
    else if (state & PAGE_AROUND)
      ++file.around[source];
    else
      ++file.untouched[source];
  }
}

// What the CPUs have not handed over yet.
void add_batches(const BpfObject& object, std::vector<WatchedFile>& files) {
  std::vector<file_batch> cpus(static_cast<std::size_t>(std::max(1, libbpf_num_possible_cpus())));
  const __u32 zero = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(object.map("file_batches")), &zero, cpus.data()) != 0) return;
  for (const file_batch& batch : cpus) {
    auto file = std::ranges::find(files, batch.mapping, &WatchedFile::mapping);
    if (file == files.end()) continue;
    for (std::size_t source = 0; source < PAGE_SOURCE_SLOTS; ++source) {
      file->counted.added[source] += batch.added[source];
      file->counted.used[source] += batch.used[source];
      file->counted.around[source] += batch.around[source];
      file->counted.wasted[source] += batch.wasted[source];
    }
    file->counted.removed += batch.removed;
    file->counted.refaults += batch.refaults;
  }
}

}

void make_room_for_attach(const BpfObject& object) {
  const std::pair<const char*, __u32> rooms[] = {
      {"targets", MOST_TARGETS},        {"files", MOST_FILES},          {"file_chunks", MOST_FILE_CHUNKS},
      {"chunk_pool", MOST_FILE_CHUNKS}, {"thread_waits", MOST_THREADS}, {"thread_places", THREAD_PLACES},
      {"left_out", MOST_LEFT_OUT}};
  for (const auto& [name, entries] : rooms) bpf_map__set_max_entries(object.map(name), entries);
}

Result<std::vector<WatchedFile>> read_files(const BpfObject& object) {
  // 4 KiB each: one that has to move as it grows would take three times as much for a moment.
  std::size_t known = 0;
  __u64 key = 0, next = 0;
  for (const void* before = nullptr;
       bpf_map_get_next_key(bpf_map__fd(object.map("files")), before, &next) == 0; before = &key, ++known)
    key = next;
  std::vector<WatchedFile> files;
  files.reserve(known);
  std::map<__u64, std::size_t> index_of;
  Status read =
      for_entries<__u64, file_stats>(object.map("files"), [&](__u64 mapping, const file_stats& counted) {
        index_of[mapping] = files.size();
        files.emplace_back().mapping = mapping;
        files.back().counted = counted;
      });
  if (!read) return read.error();
  const int pool = bpf_map__fd(object.map("chunk_pool"));
  ledger_chunk chunk;
  read = for_entries<chunk_key, __u32>(object.map("file_chunks"), [&](const chunk_key& key, __u32 place) {
    auto at = index_of.find(key.mapping);
    if (at != index_of.end() && bpf_map_lookup_elem(pool, &place, &chunk) == 0)
      add_lives(chunk, files[at->second]);
  });
  if (!read) return read.error();
  add_batches(object, files);
  return files;
}

Result<std::vector<WatchedThread>> read_threads(const BpfObject& object) {
  std::vector<WatchedThread> threads;
  Status read = for_entries<__u32, thread_waits>(object.map("thread_waits"),
                                                 [&](__u32 tid, const thread_waits& counted) {
                                                   threads.push_back({tid, counted});
                                                 });
  if (!read) return read.error();
  return threads;
}

attach_losses read_losses(const BpfObject& object) {
  std::vector<attach_losses> cpus(static_cast<std::size_t>(std::max(1, libbpf_num_possible_cpus())));
  attach_losses sum{};
  const __u32 zero = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(object.map("attach_losses")), &zero, cpus.data()) != 0) return sum;
  for (const attach_losses& cpu : cpus) {
    sum.files += cpu.files;
    sum.threads += cpu.threads;
    sum.chunks += cpu.chunks;
    sum.targets += cpu.targets;
    sum.hint_files += cpu.hint_files;
  }
  return sum;
}

std::set<std::uint64_t> read_left_out(const BpfObject& object) {
  std::set<std::uint64_t> left_out;
  static_cast<void>(
      for_entries<__u64, __u32>(object.map("left_out"), [&](__u64 one, __u32) { left_out.insert(one); }));
  return left_out;
}

Status add_target(const BpfObject& object, __u32 tgid) {
  const __u32 asked_for = 0;
  if (int error = bpf_map_update_elem(bpf_map__fd(object.map("targets")), &tgid, &asked_for, BPF_ANY))
    return errno_error(fmt::format("watch process {}", tgid), -error,
                       fmt::format("at most {} processes are watched at once", +MOST_TARGETS));
  object.set_target_bit(tgid);
  return {};
}

std::vector<pid_t> forked_targets(const BpfObject& object) {
  std::vector<pid_t> forked;
  static_cast<void>(for_entries<__u32, __u32>(object.map("targets"), [&](__u32 tgid, __u32 forked_by) {
    if (forked_by) forked.push_back(static_cast<pid_t>(tgid));
  }));
  return forked;
}

}
