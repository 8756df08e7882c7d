#pragma once
// Words of the command line as values. Every error is a usage error of one line that names the option, the
// word and what is allowed.

#include <cstdint>
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

// "a,b,c": at least one item, none empty, none twice.
Result<std::vector<std::string>> parse_list(std::string_view option, std::string_view words);

}
