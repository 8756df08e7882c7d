#include "userspace/probes/calls.h"

#include <sys/syscall.h>

#include <array>
#include <utility>

#include <fmt/format.h>

namespace iotrace {

std::span<const FollowedCall> followed_calls() {
  static constexpr std::array<FollowedCall, CALLS - CALL_MADVISE> calls = {{
      {CALL_MADVISE, SYS_madvise, "madvise"},
      {CALL_PROCESS_MADVISE, SYS_process_madvise, "process_madvise"},
      {CALL_PREAD64, SYS_pread64, "pread64"},
      {CALL_PREADV, SYS_preadv, "preadv"},
      {CALL_PREADV2, SYS_preadv2, "preadv2"},
      {CALL_READ, SYS_read, "read"},
      {CALL_READV, SYS_readv, "readv"},
      {CALL_FADVISE64, SYS_fadvise64, "fadvise64"},
      {CALL_READAHEAD, SYS_readahead, "readahead"},
      {CALL_MINCORE, SYS_mincore, "mincore"},
      {CALL_IO_URING_ENTER, SYS_io_uring_enter, "io_uring_enter"},
      {CALL_MMAP, SYS_mmap, "mmap"},
      {CALL_MUNMAP, SYS_munmap, "munmap"},
      {CALL_MPROTECT, SYS_mprotect, "mprotect"},
      {CALL_FUTEX, SYS_futex, "futex"},
  }};
  static_assert(calls.back().call == CALLS - 1);
  return calls;
}

// include/uapi/asm-generic/mman-common.h
std::string advice_name(unsigned advice) {
  static constexpr std::pair<unsigned, std::string_view> names[] = {
      {0, "NORMAL"},           {1, "RANDOM"},          {2, "SEQUENTIAL"},
      {3, "WILLNEED"},         {4, "DONTNEED"},        {8, "FREE"},
      {9, "REMOVE"},           {10, "DONTFORK"},       {11, "DOFORK"},
      {12, "MERGEABLE"},       {13, "UNMERGEABLE"},    {14, "HUGEPAGE"},
      {15, "NOHUGEPAGE"},      {16, "DONTDUMP"},       {17, "DODUMP"},
      {18, "WIPEONFORK"},      {19, "KEEPONFORK"},     {20, "COLD"},
      {21, "PAGEOUT"},         {22, "POPULATE_READ"},  {23, "POPULATE_WRITE"},
      {24, "DONTNEED_LOCKED"}, {25, "COLLAPSE"},       {100, "HWPOISON"},
      {101, "SOFT_OFFLINE"},   {102, "GUARD_INSTALL"}, {103, "GUARD_REMOVE"},
  };
  for (auto [number, name] : names)
    if (number == advice) return std::string(name);
  return fmt::format("advice {}", advice);
}

}
