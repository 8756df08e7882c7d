#pragma once
// The back-off of Lucene's MemorySegmentIndexInput.prefetch. A count of hints in a row that were not needed
// decides whether the next one is worth a look at the page cache: 0, 1, 2, 4, 8, … are, the rest are
// suppressed, and a look that finds a page absent starts the count again at 0. So a cached file costs next to
// nothing, and one miss brings all hints back.
//
//   source   apache/lucene, MemorySegmentIndexInput.prefetch: a post-increment, tested by
//            BitUtil.isZeroOrPowerOfTwo, set to 0 before madvise

#include <atomic>
#include <cstdint>

namespace iotrace {

// Shared by all threads, as the clones of one IndexInput share it. No order with other memory is needed: a
// race moves the next look by a few hints.
class PrefetchBackoff {
public:
  // Counts a hint that is wanted. False: suppress it.
  bool worth_a_look() {
    const std::uint64_t wanted_before = wanted_.fetch_add(1, std::memory_order_relaxed);
    return (wanted_before & (wanted_before - 1)) == 0;
  }

  // The look found a page absent.
  void missed() { wanted_.store(0, std::memory_order_relaxed); }

private:
  alignas(64) std::atomic<std::uint64_t> wanted_{0};  // since the last miss
};

}
