#pragma once
// Small text files as the kernel gives them in /proc and /sys.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iotrace {

// The whole file; nullopt if it can't be opened or read.
std::optional<std::string> read_text(const std::string& path);

// The file without the blanks around its content; nullopt if it can't be read or holds nothing else.
std::optional<std::string> read_word(const std::string& path);

// An unsigned decimal number that is all the file holds.
std::optional<std::uint64_t> read_number(const std::string& path);

// "madvise" of "always [madvise] never", the way sysfs shows a choice; nullopt without brackets.
std::optional<std::string> chosen_word(std::string_view text);

// True if `text`, cut at blanks and line ends, has `word` as one of its pieces.
bool has_word(std::string_view text, std::string_view word);

}
