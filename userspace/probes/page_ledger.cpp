#include "userspace/probes/page_ledger.h"

#include <bpf/bpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr std::uint64_t kMostPages = std::uint64_t{LEDGER_CHUNKS} * LEDGER_CHUNK_PAGES;

template<typename T> Status read(bpf_map* map, __u32 index, T& value) {
  int error = bpf_map_lookup_elem(bpf_map__fd(map), &index, &value);
  return error == 0 ? Status() : errno_error(fmt::format("read BPF map {}", bpf_map__name(map)), -error);
}

template<typename T> Status write(bpf_map* map, __u32 index, const T& value) {
  int error = bpf_map_update_elem(bpf_map__fd(map), &index, &value, BPF_ANY);
  return error == 0 ? Status() : errno_error(fmt::format("write BPF map {}", bpf_map__name(map)), -error);
}

// Calls `visit` with the index of each chunk that holds a life.
template<typename Visit> Status for_used_chunks(const BpfObject& object, Visit visit) {
  for (__u32 chunk = 0; __u8 used : object.used_chunks()) {
    if (used)
      if (Status visited = visit(chunk); !visited) return visited;
    ++chunk;
  }
  return {};
}

void judge(__u32 life, bool marked, JudgedPages& pages) {
  const auto source = static_cast<std::size_t>(life >> PAGE_SOURCE_SHIFT & (PAGE_SOURCE_SLOTS - 1));
  if (source >= PAGE_SOURCES) return;
  if (life & PAGE_PRESENT) {
    ++(marked ? pages.used : pages.wasted)[source];
  } else if (life & PAGE_ENDED_UNUSED && marked) {
    ++pages.used[source];
    --pages.wasted[source];
  }
}

}

LedgerSize ledger_size(std::uint64_t file_bytes, std::uint64_t page_bytes) {
  const std::uint64_t pages = (file_bytes + page_bytes - 1) / page_bytes;
  const std::uint64_t covered = std::min(pages, kMostPages);
  LedgerSize size;
  size.chunks =
      static_cast<__u32>(std::max<std::uint64_t>(1, (covered + LEDGER_CHUNK_PAGES - 1) / LEDGER_CHUNK_PAGES));
  if (covered < pages)
    size.note = fmt::format(
        "the page ledger covers the first {} of {} pages: used, wasted and refault_pages are of that part",
        covered, pages);
  return size;
}

LedgerSize ledger_size(int file_fd) {
  struct stat file {};
  if (fstat(file_fd, &file) != 0) file.st_size = 0;
  return ledger_size(static_cast<std::uint64_t>(file.st_size),
                     static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

Result<JudgedPages> judge_ledger(const BpfObject& object, const page_counters& ended) {
  JudgedPages pages;
  for (std::size_t source = 0; source < PAGE_SOURCES; ++source) {
    pages.used[source] = ended.used[source] + ended.used_late[source];
    pages.wasted[source] = ended.wasted[source] - ended.used_late[source];
  }
  const auto mark = static_cast<__u8>(object.gate_page().mark);
  life_chunk lives;
  ledger_chunk touches;
  Status judged = for_used_chunks(object, [&](__u32 chunk) -> Status {
    if (Status known = read(object.map("page_lives"), chunk, lives); !known) return known;
    if (Status known = read(object.map("touches"), chunk, touches); !known) return known;
    for (std::size_t page = 0; page < LEDGER_CHUNK_PAGES; ++page)
      if (lives.pages[page]) judge(lives.pages[page], touches.pages[page] == mark, pages);
    return {};
  });
  if (!judged) return judged.error();
  return pages;
}

Status clear_ledger(const BpfObject& object) {
  return for_used_chunks(object, [&](__u32 chunk) -> Status {
    if (Status cleared = write(object.map("page_lives"), chunk, life_chunk{}); !cleared) return cleared;
    object.used_chunks()[chunk] = 0;
    return {};
  });
}

Status clear_marks(const BpfObject& object) {
  bpf_map* marks = object.map("touches");
  for (__u32 chunk = 0; chunk < bpf_map__max_entries(marks); ++chunk)
    if (Status cleared = write(marks, chunk, ledger_chunk{}); !cleared) return cleared;
  return {};
}

}
