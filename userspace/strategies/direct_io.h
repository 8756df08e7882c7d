#pragma once
// What the O_DIRECT strategies share. Direct I/O wants offset, length and memory aligned: a read fetches the
// smallest aligned range that covers the request, up to one block more than the request fills.

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "analysis/result.h"

namespace iotrace {

constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) {
  return value - value % unit;
}
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

// Sets O_DIRECT on the descriptor and returns what its offsets and lengths must be multiples of. The memory
// is page-aligned, which satisfies every file system; only the file offset needs care.
//   errors   unsupported: no direct I/O for this file or on this file system
inline Result<std::uint64_t> switch_to_direct_io(int fd) {
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) != 0)
    return errno_error("statx the file for the alignment of direct I/O", errno);
  const bool known = facts.stx_mask & STATX_DIOALIGN;
  if (known && facts.stx_dio_offset_align == 0)
    return unsupported("no O_DIRECT for this file (STATX_DIOALIGN); put it on another file system");

  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) {
    if (errno == EINVAL)
      return unsupported("set O_DIRECT: EINVAL; no O_DIRECT on this file system, put the file on another");
    return errno_error("set O_DIRECT", errno);
  }
  // Linux before 6.1, or a file system that does not say: its block size is always good.
  return std::uint64_t{known ? facts.stx_dio_offset_align : facts.stx_blksize};
}

}
