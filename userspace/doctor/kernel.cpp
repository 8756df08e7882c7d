// The kernel's own ways that change the numbers: locks of a fault, who is reclaimed first, who else evicts.

#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/format.h"
#include "userspace/doctor/check.h"
#include "userspace/host/text_file.h"

namespace iotrace {

Answers check_per_vma_locks(const Surroundings& here) {
  constexpr const char* name = "per-VMA locks";
  if (!here.host.per_vma_locks)
    return {{Grade::kNote, name, "not known: the kernel does not give its types (BTF)",
             "under_vma_lock in the record stays null"}};
  if (*here.host.per_vma_locks)
    return {{Grade::kOk, name, "yes: a fault that finds its page takes the lock of its mapping alone",
             "a fault that waits for I/O still comes back under mmap_lock"}};
  return {{Grade::kNote, name, "no: every fault takes mmap_lock for reading",
           "each mmap, munmap or mprotect of any thread holds up the faults of all; mmap rows scale worse "
           "than on kernels "
           "with them",
           "a kernel with CONFIG_PER_VMA_LOCK (6.4; for reads of files 6.7)"}};
}

Answers check_reclaim(const Surroundings& here) {
  // "0x0007": a mask in hexadecimal, bit 0 the main switch. Documentation/admin-guide/mm/multigen_lru.rst.
  const std::string mglru = here.host.mglru.value_or("0");
  const bool on = std::string_view("13579bdf").find(mglru.back()) != std::string_view::npos;
  return {{Grade::kOk, "reclaim",
           on ? fmt::format("multi-gen LRU ({})", mglru) : "active and inactive lists (no multi-gen LRU)",
           "decides which pages leave first under a limit; compare rows under a limit between equal settings "
           "only"}};
}

namespace {

std::vector<std::string> kdamonds() {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = read_word(entry->path() / "comm").value_or("");
    if (name.starts_with("kdamond")) found.push_back(std::move(name));
  }
  return found;
}

// "pageout" and the like: what DAMON was told to do through sysfs, as far as this user may read it.
std::set<std::string> damon_actions() {
  std::set<std::string> found;
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk entry("/sys/kernel/mm/damon/admin/kdamonds", error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() == "action")
      if (auto action = read_word(entry->path())) found.insert(*action);
  return found;
}

}

Answers check_damon(const Surroundings&) {
  constexpr const char* name = "DAMON";
  const std::vector<std::string> threads = kdamonds();
  if (threads.empty()) return {{Grade::kOk, name, "not running"}};
  const std::set<std::string> actions = damon_actions();
  if (actions == std::set<std::string>{"stat"})
    return {{Grade::kOk, name, fmt::format("{} watches and evicts nothing", fmt::join(threads, ", "))}};
  return {{Grade::kNote, name,
           fmt::format("{} runs{}{}", fmt::join(threads, ", "), actions.empty() ? "" : ", action ",
                       fmt::join(actions, ", ")),
           "it may evict pages that nobody touched for a while: 'warm' and 'resident' then lose pages to no "
           "one's reads, and "
           "rows fail with 'did not last'",
           "for the time of a run: echo off > /sys/kernel/mm/damon/admin/kdamonds/0/state (or "
           "damon_reclaim.enabled=N)"}};
}

Answers check_huge_pages(const Surroundings& here) {
  constexpr const char* name = "huge pages";
  if (!here.host.thp) return {{Grade::kOk, name, "not in this kernel"}};
  if (*here.host.thp != "always")
    return {{Grade::kOk, name, fmt::format("transparent ones: {}", *here.host.thp)}};
  return {{Grade::kNote, name, "transparent ones: always",
           "anonymous memory of the reader may grow by 2 MiB at a touch and count against --memory; folios "
           "of files are not "
           "decided by this",
           "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"}};
}

Answers check_swap(const Surroundings& here) {
  if (here.host.swap_bytes == 0) return {{Grade::kOk, "swap", "none"}};
  return {{Grade::kNote, "swap", human_bytes(static_cast<double>(here.host.swap_bytes)),
           "under a memory limit the reader's own memory may be swapped out; swap-ins are major faults that "
           "no file caused",
           "swapoff -a for the time of a run"}};
}

Answers check_virtualisation(const Surroundings& here) {
  constexpr const char* name = "virtualisation";
  if (!here.host.virtualisation)
    return {{Grade::kNote, name, "not known", "a host below may cache what reads 'cold' here"}};
  if (*here.host.virtualisation == "none") return {{Grade::kOk, name, "none"}};
  return {{Grade::kNote, name, fmt::format("runs on {}", *here.host.virtualisation),
           "'cold' is cold for this kernel: the host may hold the file in its own memory; first touches of "
           "mapped pages can "
           "cost more than on metal",
           "compare rows of one machine only; a second cold pass much faster than the first shows a host's "
           "cache"}};
}

}
