// Every strategy, in the order in which reports show them: ENTRY(x) stands for `Strategy x_strategy()`.

#include "userspace/strategies/strategy.h"

#define STRATEGIES(ENTRY)                                                                                    \
  ENTRY(mmap)                                                                                                \
  ENTRY(mmap_random)                                                                                         \
  ENTRY(mmap_sequential)                                                                                     \
  ENTRY(mmap_willneed)                                                                                       \
  ENTRY(mmap_willneed_backoff)                                                                               \
  ENTRY(mmap_random_willneed)                                                                                \
  ENTRY(mmap_random_willneed_backoff)                                                                        \
  ENTRY(mmap_random_willneed_mincore)                                                                        \
  ENTRY(mmap_random_willneed_vec)                                                                            \
  ENTRY(mmap_willneed_misaligned)                                                                            \
  ENTRY(mmap_random_willneed_misaligned)                                                                     \
  ENTRY(mmap_populate)                                                                                       \
  ENTRY(mmap_window)                                                                                         \
  ENTRY(pread)                                                                                               \
  ENTRY(pread_fadvise)                                                                                       \
  ENTRY(filechannel)                                                                                         \
  ENTRY(filechannel_heap)                                                                                    \
  ENTRY(read)                                                                                                \
  ENTRY(direct)                                                                                              \
  ENTRY(io_uring)                                                                                            \
  ENTRY(io_uring_direct)

namespace iotrace {

#define DECLARE(name) Strategy name##_strategy();
STRATEGIES(DECLARE)

std::span<const Strategy> strategies() {
#define CALL(name) name##_strategy(),
  static const Strategy all[] = {STRATEGIES(CALL)};
  return all;
}

const Strategy* find_strategy(std::string_view name) {
  for (const Strategy& strategy : strategies())
    if (strategy.name == name) return &strategy;
  return nullptr;
}

}
