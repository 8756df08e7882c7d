#include "analysis/reports/exposition.h"

#include <cmath>

#include <fmt/format.h>

namespace iotrace {

namespace {

// Bytes of the well-formed sequence at the start of `text`, 0 if there is none.
//   source  Unicode 15, table 3-7
std::size_t well_formed(std::string_view text) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return low <= byte(i) && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF)
    return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  if (lead >= 0xF0 && lead <= 0xF4)
    return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4
                                                                                                          : 0;
  return 0;
}

std::string escaped(std::string_view value) {
  std::string text;
  for (char c : value) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '"')
      text += "\\\"";
    else if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

// file="/a",kind="read"
std::string joined(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    if (!value.empty())
      text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(label_text(value)));
  return text;
}

}

std::string label_text(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    std::size_t length = well_formed(text);
    valid += length > 0 ? text.substr(0, length) : "\uFFFD";
    text.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
}

Exposition::Exposition(Labels common) : common_(joined(common)) {}

void Exposition::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  head_ = fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void Exposition::line(std::string_view suffix, const Labels& labels, std::string_view more,
                      std::string_view value) {
  text_ += std::exchange(head_, {});
  std::string own = joined(labels), all;
  for (std::string_view part : {std::string_view(common_), std::string_view(own), more})
    if (!part.empty()) all += fmt::format("{}{}", all.empty() ? "" : ",", part);
  text_ += name_;
  text_ += suffix;
  if (!all.empty()) text_ += "{" + all + "}";
  text_ += fmt::format(" {}\n", value);
}

void Exposition::sample(std::uint64_t value, const Labels& labels) {
  line("", labels, "", std::to_string(value));
}

void Exposition::sample(double value, const Labels& labels) {
  if (std::isfinite(value)) line("", labels, "", fmt::format("{}", value));
}

void Exposition::samples(const Histogram& histogram, const Buckets& buckets, const Labels& labels) {
  auto bin = histogram.bins().begin();
  std::uint64_t below = 0;
  for (unsigned power = buckets.first; power <= buckets.last; ++power) {
    const std::uint64_t bound = std::uint64_t{1} << power;
    auto belongs = [&](unsigned number) {
      return buckets.with_own_bin ? histogram_bin_low(number, histogram.sub_bits()) <= bound
                                  : histogram_bin_high(number, histogram.sub_bits()) < bound;
    };
    for (; bin != histogram.bins().end() && belongs(bin->first); ++bin) below += bin->second;
    line("_bucket", labels, fmt::format("le=\"{}\"", static_cast<double>(bound) / buckets.per_unit),
         std::to_string(below));
  }
  line("_bucket", labels, "le=\"+Inf\"", std::to_string(histogram.count()));
  line("_sum", labels, "", fmt::format("{}", static_cast<double>(histogram.sum()) / buckets.per_unit));
  line("_count", labels, "", std::to_string(histogram.count()));
}

}
