#pragma once
// Words in the reason of a probe that could count and does not, to spare those that it would slow; findings
// know it by them.

#include <string_view>

namespace iotrace {

inline constexpr std::string_view kLeftOut = "left out, as";                // until --probes names it
inline constexpr std::string_view kOverLimit = "more than --max-overhead";  // and was switched off

}
