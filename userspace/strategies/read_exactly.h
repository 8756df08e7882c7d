#pragma once
// A read call may return less than it was asked for; this asks on until the bytes are there.

#include <cerrno>
#include <span>

#include <fmt/format.h>

#include "analysis/result.h"

namespace iotrace {

// The error of a read that met the end of the file too early.
inline Error short_read(std::string_view call, std::uint64_t size_bytes, std::uint64_t offset) {
  return errno_error(fmt::format("{} of {} bytes at offset {}", call, size_bytes, offset), EIO,
                     "short read: the file is shorter than at the start");
}

// Fills at least the first `needed` bytes of `to` from `offset` on.
//   read_once   (std::span<std::byte> to, std::uint64_t offset) -> bytes read, 0 at the end, -1 and errno
//   errors      failed: what the call says, or EIO "short read"
template<typename ReadOnce>
Status read_exactly(std::string_view call, std::span<std::byte> to, std::size_t needed, std::uint64_t offset,
                    ReadOnce read_once) {
  std::size_t done = 0;
  while (done < needed) {
    const ssize_t got = read_once(to.subspan(done), offset + done);
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (got == 0)
      return short_read(call, needed, offset);
    else if (errno != EINTR)
      return errno_error(fmt::format("{} of {} bytes at offset {}", call, needed, offset), errno);
  }
  return {};
}

}
