#pragma once
// Numbers as people write them. Every function states its unit in the text; what is not a finite number
// becomes kNotAvailable. Rounding never turns "nearly" into "all" or "hardly" into "none".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/statistics.h"

namespace iotrace {

inline constexpr std::string_view kNotAvailable = "-";

// Three significant digits, never an exponent: "0.00912", "12.3", "1234".
std::string three_digits(double value);

// Binary units: "512 B", "16 KiB", "1.5 GiB". Exact multiples carry no decimals.
std::string human_bytes(double bytes);

// "950 ns", "12.3 us", "1.25 ms", "2.05 s"
std::string human_ns(double nanoseconds);

// Decimal megabytes per second, the number alone: "104", "0.52"
std::string megabytes_per_s(double bytes_per_s);

// "3.1 %", "100 %"; a share that is not quite 1 is "> 99.9 %", one that is not quite 0 "< 0.1 %".
std::string percent(double ratio);

// Median and 95 % interval with the median's decimals: "12.3 [11.9-12.8]"; without an interval "12.3".
std::string interval(const Estimate& estimate);

// 1 -> "T01"
std::string threads_name(std::uint32_t threads);

// "3200 calls", "1 call"
std::string counted(std::uint64_t n, std::string_view noun);

}
