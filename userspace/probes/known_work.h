#pragma once
// A process that does a small, known work on the first pages of the followed file, and counts itself what it
// does: what the probes must have counted, too (canary.h).
//
// It only reads. The pages in question are evicted for it, and left as they were found: those that were in
// the cache are read back in, the others evicted again. Where they can't be evicted, as another process has
// them mapped, that part of the work counts 0. Other processes that read or evict the same pages meanwhile
// change what is counted but not that both sides count it: whether a page is there is asked before each
// touch.

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "analysis/result.h"
#include "userspace/probes/probe_set.h"
#include "userspace/unique_fd.h"

namespace iotrace {

// What was done in one window. The usual numbers are prime, and each another, so that none passes for its
// neighbour; a file of fewer than 7 pages gives fewer.
struct KnownWork {
  std::uint64_t faults_absent;     // faults on the file's mapping whose page was not in the cache: 7
  std::uint64_t faults_present;    // that found it there: 5
  std::uint64_t reads_absent;      // pread64 of one page that was not in the cache: 7
  std::uint64_t reads;             // pread64 in all: 23
  std::uint64_t reads_refused;     // pread64 at a descriptor that is none, EBADF: 3
  std::uint64_t misaligned;        // madvise at an address inside a page, EINVAL: 11
  std::uint64_t residency_asked;   // mincore
  std::uint64_t mapped_unmapped;   // mmap and munmap of other memory, each: 13
  std::uint64_t evicted;           // pages of those brought in that were evicted again: 7
  std::uint64_t marked, unmarked;  // of the pages brought in: whether the page ledger was told of their use
  std::uint64_t minor_faults, major_faults;  // of the process, by getrusage(2)
  std::uint64_t device_bytes;   // that the device delivered to it, by /proc/PID/io; holes have none
  std::uint64_t windows;        // reads at the file's start that brought the page behind theirs, too: 3
  std::uint64_t uring_refused;  // the same as misaligned, through io_uring: 2; 0: there is no io_uring
};

class KnownWorker {
public:
  // Forks. To be called while no probe is attached: the child keeps links that it inherits. It dies with its
  // parent.
  //   file_fd  the followed file; opened again
  //   errors   failed: what kept it from starting, such as an empty file
  static Result<KnownWorker> start(int file_fd, const ProbeSet& probes);
  KnownWorker(KnownWorker&&) noexcept;
  KnownWorker& operator=(KnownWorker&&) = delete;
  // Lets it leave the pages as it found them, and reaps it.
  ~KnownWorker();

  // To attach the probes to.
  const ProbeTarget& target() const { return target_; }

  // One window, whose gate the process opens and closes itself. About 2 ms on a disk that reads a page in
  // 0.1 ms.
  //   errors   failed: it died, or has not come back after some seconds; don't call it again
  Result<KnownWork> run();

private:
  KnownWorker(pid_t pid, UniqueFd line, ProbeTarget target)
      : pid_(pid), line_(std::move(line)), target_(target) {}

  pid_t pid_ = -1;
  UniqueFd line_;
  ProbeTarget target_;
};

}
