#include <array>

#include "analysis/compare/compare_report.h"

namespace iotrace {

// One line each, declared and listed.
#define IOTRACE_COMPARE_FORMATS(FORMAT)                                                                      \
  FORMAT(terminal)                                                                                           \
  FORMAT(markdown)                                                                                           \
  FORMAT(json)                                                                                               \
  FORMAT(csv)                                                                                                \
  FORMAT(html)

#define DECLARE(format) extern const CompareFormat format##_comparison;
IOTRACE_COMPARE_FORMATS(DECLARE)
#undef DECLARE

std::span<const CompareFormat> compare_formats() {
#define LIST(format) format##_comparison,
  static const std::array kFormats{IOTRACE_COMPARE_FORMATS(LIST)};
#undef LIST
  return kFormats;
}

}
