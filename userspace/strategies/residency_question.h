#pragma once
// Asks mincore(2) whether a range of the mapping is in the page cache, as Java's MemorySegment.isLoaded does.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "userspace/strategies/mapped_copy.h"

namespace iotrace {

// mincore(2) tells the truth only to the owner of a file and to who may write to it; anybody else it tells
// that all is resident, since Linux 5.0.
//   errors   unsupported: this process is neither
//   source   mm/mincore.c, can_do_mincore()
inline Status may_ask_residency(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return errno_error("stat the file", errno);
  if (facts.st_uid == ::geteuid()) return {};
  // The system call itself: not every libc hands on AT_EMPTY_PATH.
  if (::syscall(SYS_faccessat2, fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0) return {};
  return unsupported(fmt::format("mincore tells uid {} that every page is resident, since it neither owns "
                                 "nor may write the file; run as "
                                 "the owner: --user {}",
                                 ::geteuid(), facts.st_uid));
}

class ResidencyQuestion {
public:
  ResidencyQuestion(const SourceFile& file, const ReadShape& shape)
      : file_(file), pages_(shape.read_size_bytes / file.page_size_bytes + 2) {}

  // True: every page of the read is there. A page whose I/O is still in flight is not.
  //   errors   failed: what mincore(2) says
  Result<bool> all_resident(std::uint64_t offset, std::uint64_t size_bytes) {
    const PageRange range = PageRange::around(file_, offset, size_bytes);
    if (::mincore(range.start, range.size_bytes, pages_.data()) != 0)
      return errno_error(fmt::format("mincore of {} bytes at offset {}", size_bytes, offset), errno);
    const std::uint64_t count = (range.size_bytes + file_.page_size_bytes - 1) / file_.page_size_bytes;
    return std::all_of(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(count),
                       [](unsigned char page) { return page & 1; });
  }

private:
  const SourceFile file_;
  std::vector<unsigned char> pages_;  // a byte per page of the longest range
};

}
