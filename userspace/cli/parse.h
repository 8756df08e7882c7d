#pragma once
// Words of the command line as values. Every error is a usage error of one line that names the option, the
// word and what is allowed.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result.h"

namespace iotrace {

// "4096", "16K", "1.5GiB": factors of 1024, with or without "B" or "iB"; bytes, at least 1.
Result<std::uint64_t> parse_size(std::string_view option, std::string_view word);

// "0.3" (seconds), "300ms", "50us", "2s", "1m": seconds, not negative.
Result<double> parse_duration(std::string_view option, std::string_view word);

// A whole number in [least, most].
Result<std::uint64_t> parse_count(std::string_view option, std::string_view word, std::uint64_t least,
                                  std::uint64_t most);

// The whole word as a number in [least, most]; nullopt if it is none.
std::optional<double> parse_number(std::string_view word, double least, double most);

// "a,b,c": at least one item, none empty, none twice.
Result<std::vector<std::string>> parse_list(std::string_view option, std::string_view words);

// A list of values, none twice ("4K,4096" is twice), appended to `into`.
//   parse  word -> Result<Value>, with an error that names option and word
template<typename Value, typename Parse>
Status parse_values(std::string_view option, const std::string& words, std::vector<Value>& into,
                    Parse parse) {
  auto items = parse_list(option, words);
  if (!items) return items.error();
  for (const std::string& item : *items) {
    auto value = parse(item);
    if (!value) return value.error();
    const auto wanted = static_cast<Value>(*value);
    if (std::ranges::find(into, wanted) != into.end())
      return usage_error(std::string(option) + " '" + words + "': names " + item + " twice");
    into.push_back(wanted);
  }
  return {};
}

}
