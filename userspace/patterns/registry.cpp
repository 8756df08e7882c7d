// Every pattern: ENTRY(x) stands for `Pattern x_pattern()`.

#include "userspace/patterns/pattern.h"

#define PATTERNS(ENTRY)                                                                                      \
  ENTRY(random)                                                                                              \
  ENTRY(sequential)                                                                                          \
  ENTRY(hot_cold)                                                                                            \
  ENTRY(zipf)                                                                                                \
  ENTRY(strided)

namespace iotrace {

#define DECLARE(name) Pattern name##_pattern();
PATTERNS(DECLARE)

std::span<const Pattern> patterns() {
#define CALL(name) name##_pattern(),
  static const Pattern all[] = {PATTERNS(CALL)};
  return all;
}

const Pattern* find_pattern(std::string_view name) {
  for (const Pattern& pattern : patterns())
    if (pattern.name == name) return &pattern;
  return nullptr;
}

}
