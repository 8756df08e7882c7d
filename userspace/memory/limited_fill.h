#pragma once
// What must hold once a process has read a whole file in under a memory limit: the proof of the cases
// pressure and half-cold, and of each step of a memory sweep.

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/result.h"
#include "userspace/memory/residency.h"

namespace iotrace {

struct LimitedFill {
  std::uint64_t limit_bytes = 0;
  // Of the cgroup; nullopt: the limit is made by pinning memory, and nothing counts what is charged.
  std::optional<std::uint64_t> usage_bytes;
  Residency residency;
  std::uint64_t page_bytes = 4096;

  std::uint64_t file_bytes() const { return residency.file_pages * page_bytes; }
};

// Two bounds, both from the limit:
//   - no more of the file is resident than the limit can hold. More means that pages are charged elsewhere,
//     to whoever had cached them before, and that the limit does not bind them;
//   - where the limit is smaller than the file, the group's usage is at the limit and hardly less of the file
//     is resident than fits: what is missing went to the reader itself and to the kernel's bookkeeping.
//   name     of the case, for the sentence
//   errors   failed: the bound that does not hold, with what was found
Status check_limited_fill(std::string_view name, const LimitedFill& fill);

// Pages of the file that must and that may be resident.
struct PageBounds {
  std::uint64_t least = 0, most = 0;
};
PageBounds resident_bounds(const LimitedFill& fill);

}
