#pragma once
// How much of a file is in the page cache, and how to get it out.

#include <cstdint>

#include "analysis/result.h"

namespace iotrace {

struct Residency {
  std::uint64_t resident_pages = 0;
  std::uint64_t file_pages = 0;
  double ratio() const { return file_pages ? double(resident_pages) / double(file_pages) : 0.0; }
};

// By cachestat(2) (Linux 6.5), else by mincore(2) over a mapping of its own, in slices of 1 GiB.
//   fd       open for reading. Both calls need the file's owner or a writer (kernel-facts: EPERM, or "all
//            resident" from mincore): the caller must be root or own the file, else the error is unsupported
//   cost     cachestat about 10 ns per cached page
Result<Residency> residency(int fd);

// Whether the first of the two ways works for this file.
bool has_cachestat(int fd);

// The second way by itself. It leaves out pages whose I/O is in flight, which cachestat counts, and doesn't
// check who asks.
Result<Residency> residency_by_mincore(int fd);

// Writes dirty pages back and drops the file's clean pages from the cache (POSIX_FADV_DONTNEED), trying a
// few times while I/O in flight settles. Pages that another process has mapped stay; the caller proves the
// state by residency().
Status evict(int fd);

// Reads the whole file in, sequentially, 1 MiB at a time: the one fixed way in which every warm or resident
// case fills the cache.
Status fill(int fd);

// Reads the first bytes of the file in and, without readahead, nothing else.
Status fill_front(int fd, std::uint64_t bytes);

}
