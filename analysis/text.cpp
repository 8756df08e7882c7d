#include "analysis/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace iotrace {

namespace {

struct CodePoints {
  char32_t first, last;
};

// Abridged from Unicode's EastAsianWidth.txt (W, F) and the general categories Mn, Me, Cf: the blocks that
// occur in file names.
constexpr std::array kZeroWidth{CodePoints{0x0300, 0x036F}, CodePoints{0x200B, 0x200F},
                                CodePoints{0x20D0, 0x20F0}, CodePoints{0xFE00, 0xFE0F},
                                CodePoints{0xFE20, 0xFE2F}, CodePoints{0xFEFF, 0xFEFF}};
constexpr std::array kDoubleWidth{
    CodePoints{0x1100, 0x115F},   CodePoints{0x2E80, 0x303E},  CodePoints{0x3041, 0xA4CF},
    CodePoints{0xAC00, 0xD7A3},   CodePoints{0xF900, 0xFAFF},  CodePoints{0xFE30, 0xFE6F},
    CodePoints{0xFF00, 0xFF60},   CodePoints{0xFFE0, 0xFFE6},  CodePoints{0x1F300, 0x1F64F},
    CodePoints{0x1F900, 0x1F9FF}, CodePoints{0x20000, 0x3FFFD}};

bool within(char32_t c, const auto& ranges) {
  return std::ranges::any_of(ranges, [c](CodePoints r) { return r.first <= c && c <= r.last; });
}

// Takes the first code point off the text; a byte that starts no valid sequence stands for itself.
char32_t take_code_point(std::string_view& utf8) {
  auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(utf8[i]); };
  std::uint8_t lead = byte(0);
  std::size_t length = lead < 0x80            ? 1
                       : lead >> 5 == 0b110   ? 2
                       : lead >> 4 == 0b1110  ? 3
                       : lead >> 3 == 0b11110 ? 4
                                              : 1;
  char32_t c = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= utf8.size() || byte(i) >> 6 != 0b10) {
      utf8.remove_prefix(1);
      return lead;
    }
    c = (c << 6) | (byte(i) & 0x3Fu);
  }
  utf8.remove_prefix(length);
  return c;
}

}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  while (!utf8.empty()) {
    char32_t c = take_code_point(utf8);
    width += within(c, kZeroWidth) ? 0 : within(c, kDoubleWidth) ? 2 : 1;
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::string_view before = text;
    char32_t c = take_code_point(text);
    // C0, DEL and C1: some terminals obey U+0080..U+009F, and raw bytes of that range, like escapes.
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    const bool malformed = c >= 0x80 && before.size() - text.size() == 1;
    if (control || malformed)
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c));
    else
      out += before.substr(0, before.size() - text.size());
  }
  return out;
}

std::string shortened_path(std::string_view utf8, std::size_t width) {
  if (display_width(utf8) <= width) return std::string(utf8);
  // The longest end at a slash that fits beside the mark, else the longest that fits.
  std::string_view at_slash, rest = utf8;
  while (!rest.empty() && display_width(rest) + 1 > width) take_code_point(rest);
  if (auto slash = rest.find('/'); slash != std::string_view::npos && slash + 1 < rest.size())
    at_slash = rest.substr(slash);
  return "…" + std::string(at_slash.empty() ? rest : at_slash);
}

std::string clipped(std::string_view utf8, std::size_t width) {
  std::string_view rest = utf8;
  std::size_t used = 0;
  while (!rest.empty()) {
    std::string_view after = rest;
    take_code_point(after);
    used += display_width(rest.substr(0, rest.size() - after.size()));
    if (used > width) break;
    rest = after;
  }
  std::string_view kept = utf8.substr(0, utf8.size() - rest.size());
  if (!rest.empty()) kept = kept.substr(0, kept.find_last_not_of(' ') + 1);
  return std::string(kept);
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  bool line_is_empty = true;
  while (!text.empty()) {
    std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    std::string_view word = text.substr(blanks, text.find(' ', blanks) - blanks);
    text.remove_prefix(blanks + word.size());
    if (word.empty()) break;
    std::size_t needed = display_width(word);
    if (!line_is_empty && column + blanks + needed > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else {
      out.append(blanks, ' ');
      column += blanks;
    }
    out += word;
    column += needed;
    line_is_empty = false;
  }
  return out;
}

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour || style == Style::kPlain || text.empty()) return std::string(text);
  static constexpr std::array<std::string_view, 5> kCodes{"", "\033[1m", "\033[32m", "\033[33m", "\033[31m"};
  return fmt::format("{}{}\033[0m", kCodes[static_cast<std::size_t>(style)], text);
}

}
