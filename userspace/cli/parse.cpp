#include "userspace/cli/parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace iotrace {

namespace {

// Splits "1.5GiB" into 1.5 and "GiB"; false if there is no number in front.
bool split_number(std::string_view word, double& number, std::string_view& unit) {
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return false;
  unit = word.substr(static_cast<std::size_t>(end - word.data()));
  return true;
}

Error bad(std::string_view option, std::string_view word, std::string_view wanted) {
  return usage_error(fmt::format("{} '{}': {}", option, word, wanted));
}

}

Result<std::uint64_t> parse_size(std::string_view option, std::string_view word) {
  constexpr std::string_view wanted = "needs a size of at least 1 byte, such as 4096, 16K, 512M or 2G";
  double number = 0;
  std::string_view unit;
  if (!split_number(word, number, unit)) return bad(option, word, wanted);
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    constexpr std::string_view prefixes = "KMGT";
    std::size_t power = prefixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    std::string_view rest = unit.substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "iB"))
      return bad(option, word, wanted);
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double bytes = number * factor;
  if (bytes < 1 || bytes >= 0x1p62 || bytes != std::floor(bytes)) return bad(option, word, wanted);
  return static_cast<std::uint64_t>(bytes);
}

std::optional<double> parse_number(std::string_view word, double least, double most) {
  double value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value >= least && value <= most ? std::optional(value) : std::nullopt;
}

Result<double> parse_duration(std::string_view option, std::string_view word) {
  constexpr std::string_view wanted = "needs a time such as 0.3, 300ms or 2s";
  constexpr double kLongestSeconds = 24 * 3600;
  double number = 0;
  std::string_view unit;
  if (!split_number(word, number, unit) || number < 0) return bad(option, word, wanted);
  double factor = 0;
  if (unit.empty() || unit == "s") factor = 1;
  if (unit == "ms") factor = 1e-3;
  if (unit == "us") factor = 1e-6;
  if (unit == "m" || unit == "min") factor = 60;
  if (factor == 0 || number * factor > kLongestSeconds) return bad(option, word, wanted);
  return number * factor;
}

Result<std::uint64_t> parse_count(std::string_view option, std::string_view word, std::uint64_t least,
                                  std::uint64_t most) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number < least || number > most)
    return bad(option, word, fmt::format("needs a whole number from {} to {}", least, most));
  return number;
}

Result<std::vector<std::string>> parse_list(std::string_view option, std::string_view words) {
  std::vector<std::string> items;
  for (std::string_view rest = words;;) {
    std::size_t comma = rest.find(',');
    std::string item(rest.substr(0, comma));
    if (item.empty()) return bad(option, words, "needs a list such as a,b without empty items");
    if (std::ranges::find(items, item) != items.end())
      return bad(option, words, fmt::format("names {} twice", item));
    items.push_back(std::move(item));
    if (comma == std::string_view::npos) return items;
    rest = rest.substr(comma + 1);
  }
}

}
