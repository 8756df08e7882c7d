// Every check, in the order in which doctor answers: ENTRY(x) stands for `Answers check_x(const
// Surroundings&)`.

#include "userspace/doctor/check.h"

#define CHECKS(ENTRY)                                                                                        \
  ENTRY(probes)                                                                                              \
  ENTRY(memory_limit)                                                                                        \
  ENTRY(folder)                                                                                              \
  ENTRY(eviction)                                                                                            \
  ENTRY(residency)                                                                                           \
  ENTRY(readahead)                                                                                           \
  ENTRY(direct)                                                                                              \
  ENTRY(io_uring)                                                                                            \
  ENTRY(device_bytes)                                                                                        \
  ENTRY(per_vma_locks)                                                                                       \
  ENTRY(reclaim)                                                                                             \
  ENTRY(damon)                                                                                               \
  ENTRY(huge_pages)                                                                                          \
  ENTRY(swap)                                                                                                \
  ENTRY(virtualisation)                                                                                      \
  ENTRY(tracefs)                                                                                             \
  ENTRY(fio)

namespace iotrace {

#define DECLARE(name) Answers check_##name(const Surroundings&);
CHECKS(DECLARE)

std::span<const Check> checks() {
#define POINT(name) check_##name,
  static constexpr Check all[] = {CHECKS(POINT)};
  return all;
}

}
