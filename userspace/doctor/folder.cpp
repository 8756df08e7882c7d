// The current folder: what is read from it, and by which ways.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "analysis/format.h"
#include "userspace/doctor/check.h"
#include "userspace/memory/residency.h"

namespace iotrace {

namespace {

std::string where(const Surroundings& here) {
  return fmt::format("{} on {}", here.folder.fs, here.folder.device);
}

bool on_block_device(const Surroundings& here) {
  return here.folder.max_sectors_bytes.has_value();
}

}

Answers check_folder(const Surroundings& here) {
  if (!here.file)
    return {{Grade::kGap, "folder", here.why_no_file,
             "run without --file makes its scratch file in the current folder",
             "cd to a folder on the disk to be measured that you may write to, or name --file"}};
  if (!on_block_device(here))
    return {{Grade::kNote, "folder", where(here) + ", which is not a block device of this machine",
             "rows measure memory, the network or another file system below it",
             "cd to a folder on the disk that is to be measured"}};
  return {{Grade::kOk, "folder",
           fmt::format("{}, scheduler {}", where(here), here.folder.scheduler.value_or("unknown"))}};
}

Answers check_eviction(const Surroundings& here) {
  if (!here.file) return {};
  Status evicted = evict(here.file.get());
  auto left = residency(here.file.get());
  if (evicted && left && left->resident_pages == 0)
    return {{Grade::kOk, "eviction", "a file can be dropped from the page cache: 'cold' can be reached"}};
  std::string why =
      !evicted ? evicted.error().message
      : !left  ? left.error().message
               : fmt::format("{} of {} pages stay in the cache", left->resident_pages, left->file_pages);
  return {{Grade::kGap, "eviction", why, "the case 'cold' cannot be reached or not be proven here",
           "choose another folder: pages of a tmpfs or ramfs cannot be dropped"}};
}

Answers check_residency(const Surroundings& here) {
  if (!here.file) return {};
  if (has_cachestat(here.file.get())) return {{Grade::kOk, "residency", "by cachestat(2)"}};
  return {{Grade::kOk, "residency", "by mincore(2); this kernel or a seccomp filter refuses cachestat(2)",
           "pages whose read is in flight are not counted; slower on large files"}};
}

Answers check_readahead(const Surroundings& here) {
  // The kernel's own default is 128 KiB; many distributions and clouds raise it.
  constexpr std::uint64_t kMuchBytes = 512 * 1024;
  constexpr const char* name = "readahead";
  if (!here.folder.read_ahead_bytes)
    return {{Grade::kNote, name, fmt::format("not known for {}", where(here)),
             "how much a cold fault may read ahead for nothing cannot be said"}};
  const std::uint64_t bytes = *here.folder.read_ahead_bytes;
  const std::string found = fmt::format("{} ({})", human_bytes(static_cast<double>(bytes)), where(here));
  std::string means;
  if (here.folder.max_sectors_bytes)
    means = fmt::format(
        "one madvise(WILLNEED) or readahead(2) brings in at most {}, the rest is dropped without an error",
        human_bytes(static_cast<double>(std::max(bytes, *here.folder.max_sectors_bytes))));
  if (bytes <= kMuchBytes) return {{Grade::kOk, name, found, means}};
  return {{Grade::kNote, name, found,
           fmt::format(
               "a random read through a plain mapping brings in up to that much around each cold page{}{}",
               means.empty() ? "" : "; ", means),
           on_block_device(here) ? fmt::format("MADV_RANDOM in the program; for all programs: "
                                               "blockdev --setra 256 /dev/{} (128 KiB)",
                                               here.folder.device)
                                 : "MADV_RANDOM in the program"}};
}

Answers check_direct(const Surroundings& here) {
  if (!here.file) return {};
  constexpr std::size_t kAligned = 4096;
  UniqueFd file(
      ::open(fmt::format("/proc/self/fd/{}", here.file.get()).c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(kAligned, kAligned), &std::free);
  if (file && block && ::pread(file.get(), block.get(), kAligned, 0) == static_cast<ssize_t>(kAligned))
    return {{Grade::kOk, "O_DIRECT", fmt::format("works on {}", here.folder.fs)}};
  return {{Grade::kNote, "O_DIRECT", errno_error(fmt::format("read from {}", here.folder.fs), errno).message,
           "rows of the strategy 'direct' are errors, and nothing shows what the device can do without the "
           "cache"}};
}

}
