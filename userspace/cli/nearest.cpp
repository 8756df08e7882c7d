#include "userspace/cli/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace iotrace {

namespace {

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string plural(std::string_view kind) {
  return kind.ends_with('y') ? fmt::format("{}ies", kind.substr(0, kind.size() - 1))
                             : fmt::format("{}s", kind);
}

}

Error unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known) {
  auto nearest =
      std::ranges::min_element(known, {}, [&](std::string_view k) { return edit_distance(name, k); });
  std::string text = fmt::format("unknown {} '{}'", kind, name);
  if (nearest != known.end() &&
      edit_distance(name, *nearest) <= std::max<std::size_t>(2, nearest->size() / 3))
    text += fmt::format("; did you mean {}?", *nearest);
  text += fmt::format(" (iotrace list {} shows all)", plural(kind));
  return usage_error(std::move(text));
}

}
