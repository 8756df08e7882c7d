#pragma once
// Text for a terminal: how wide it is seen, how it is broken into lines, coloured, made harmless.

#include <cstddef>
#include <string>
#include <string_view>

namespace iotrace {

// Columns that a terminal gives to UTF-8 text: combining marks take 0, East Asian wide characters and
// emoji 2, malformed bytes 1 each.
std::size_t display_width(std::string_view utf8);

// Text from outside (file names, error messages) without what would drive a terminal: control characters, and
// bytes that are no UTF-8, appear as \xNN.
std::string printable(std::string_view text);

// Of a path the end, which tells files apart, with a mark for what is left out: "…/index/_0.fdt". A last
// component that is wider than `width` is cut on its left too.
std::string shortened_path(std::string_view utf8, std::size_t width);

// The text's beginning, no wider than `width`; where something was cut off, without a blank at its end.
std::string clipped(std::string_view utf8, std::size_t width);

// Breaks at spaces so that no line is wider than `width`; continuation lines start with `indent` spaces.
// A word that is wider than a line stands on a line of its own. Ends without a newline.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

enum class Style { kPlain, kHeading, kGood, kCaution, kBad };

// The text in that style's colour, or as it is.
std::string styled(std::string_view text, Style style, bool colour);

}
