#include "analysis/format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr int kSignificantDigits = 3;

// Decimals that show kSignificantDigits of `value` after rounding: 9.996 has one fewer than 9.994.
int decimals_for(double value) {
  if (value == 0) return 0;
  int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  double step = std::pow(10.0, magnitude - kSignificantDigits + 1);
  if (std::round(std::abs(value) / step) * step >= std::pow(10.0, magnitude + 1)) ++magnitude;
  return std::clamp(kSignificantDigits - 1 - magnitude, 0, 12);
}

std::string fixed(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

}

std::string three_digits(double value) {
  if (!std::isfinite(value)) return std::string(kNotAvailable);
  return fixed(value, decimals_for(value));
}

std::string human_bytes(double bytes) {
  static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!std::isfinite(bytes)) return std::string(kNotAvailable);
  std::size_t unit = 0;
  // 1023.5 would print as "1024 KiB", which is "1 MiB".
  while (std::abs(bytes) >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  bool whole = bytes == std::floor(bytes);
  return fmt::format("{} {}", whole ? fixed(bytes, 0) : three_digits(bytes), kUnits[unit]);
}

std::string human_ns(double nanoseconds) {
  static constexpr std::array kUnits{"ns", "us", "ms", "s"};
  if (!std::isfinite(nanoseconds)) return std::string(kNotAvailable);
  std::size_t unit = 0;
  while (std::abs(nanoseconds) >= 999.5 && unit + 1 < kUnits.size()) {
    nanoseconds /= 1000;
    ++unit;
  }
  bool whole = unit == 0 && nanoseconds == std::floor(nanoseconds);
  return fmt::format("{} {}", whole ? fixed(nanoseconds, 0) : three_digits(nanoseconds), kUnits[unit]);
}

std::string megabytes_per_s(double bytes_per_s) {
  return three_digits(bytes_per_s / 1e6);
}

std::string percent(double ratio) {
  if (!std::isfinite(ratio)) return std::string(kNotAvailable);
  if (ratio > 0.999 && ratio < 1) return "> 99.9 %";
  if (ratio > 0 && ratio < 0.001) return "< 0.1 %";
  double of_hundred = 100 * ratio;
  bool whole = of_hundred == std::round(of_hundred) || of_hundred >= 100;
  return fmt::format("{} %", fixed(of_hundred, whole ? 0 : 1));
}

std::string interval(const Estimate& estimate) {
  if (!estimate.median || !std::isfinite(*estimate.median)) return std::string(kNotAvailable);
  int decimals = decimals_for(*estimate.median);
  std::string text = fixed(*estimate.median, decimals);
  if (estimate.low && estimate.high)
    text += fmt::format(" [{}-{}]", fixed(*estimate.low, decimals), fixed(*estimate.high, decimals));
  return text;
}

std::string threads_name(std::uint32_t threads) {
  return fmt::format("T{:02}", threads);
}

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}
