#pragma once
// "unknown strategy 'mmap-ramdom'; did you mean mmap-random?"

#include <span>
#include <string_view>

#include "analysis/result.h"

namespace iotrace {

// A usage error that names the nearest known name (by edit distance, if it is near at all) and the list
// command.
//   kind  "strategy": the plural in the list command is made by appending s (strategies for strategy)
Error unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known);

}
