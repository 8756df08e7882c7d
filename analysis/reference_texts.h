#pragma once
// analysis/reference/*.json, as the build put them into the program.

#include <span>
#include <string_view>
#include <utility>

namespace iotrace {

// Name without ".json", and the text.
std::span<const std::pair<std::string_view, std::string_view>> reference_texts();

}
