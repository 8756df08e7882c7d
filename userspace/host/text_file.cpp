#include "userspace/host/text_file.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>

#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

constexpr std::string_view kBlanks = " \t\n";

}

std::optional<std::string> read_text(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  char piece[4096];
  for (;;) {
    ssize_t got = ::read(fd.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
  }
}

std::optional<std::string> read_word(const std::string& path) {
  auto text = read_text(path);
  if (!text) return std::nullopt;
  auto first = text->find_first_not_of(kBlanks);
  if (first == std::string::npos) return std::nullopt;
  return text->substr(first, text->find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  auto word = read_word(path);
  if (!word) return std::nullopt;
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), number);
  if (error != std::errc() || end != word->data() + word->size()) return std::nullopt;
  return number;
}

std::optional<std::string> chosen_word(std::string_view text) {
  auto open = text.find('[');
  auto close = text.find(']', open);
  if (open == text.npos || close == text.npos) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find_first_not_of(kBlanks); at != text.npos;) {
    auto end = std::min(text.find_first_of(kBlanks, at), text.size());
    if (text.substr(at, end - at) == word) return true;
    at = text.find_first_not_of(kBlanks, end);
  }
  return false;
}

}
