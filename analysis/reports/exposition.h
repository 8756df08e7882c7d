#pragma once
// Prometheus' text format 0.0.4, as node_exporter's textfile collector reads it: the samples of a metric
// together, below its HELP and TYPE, without timestamps.
//   source  https://prometheus.io/docs/instrumenting/exposition_formats/

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/histogram.h"

namespace iotrace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

// The text as a label may hold it: bytes that are not UTF-8 become U+FFFD, one each; Prometheus would refuse
// the whole file for one of them.
std::string label_text(std::string_view text);

// Upper bounds of a histogram's buckets: the powers of two from 2^first to 2^last, in the metric's unit. They
// fall on edges of the record's bins, so that no sample is split.
struct Buckets {
  unsigned first, last;
  double per_unit;  // 1e9 ns a second
  // Whether the bin that starts at a bound belongs below it. For sizes, which are powers of two as a rule, it
  // does; for durations it would count up to an eighth more.
  bool with_own_bin;
};
inline constexpr Buckets kDurations{10, 34, 1e9, false};  // 1 us to 17 s
inline constexpr Buckets kSizes{12, 22, 1, true};         // 4 KiB to 4 MiB

class Exposition {
public:
  // common  labels that every sample carries, values as label_text() leaves them
  explicit Exposition(Labels common = {});

  // Begins a metric. Its head is written with its first sample: a metric without samples is not mentioned.
  //   name  [a-z_] counters end in _total
  //   help  one line
  void counter(std::string_view name, std::string_view help) { begin(name, "counter", help); }
  void gauge(std::string_view name, std::string_view help) { begin(name, "gauge", help); }
  void histogram(std::string_view name, std::string_view help) { begin(name, "histogram", help); }

  // Samples of the metric begun last. What is not known, or not finite, is left out; so are labels without a
  // value, which mean the same to Prometheus as none.
  void sample(std::uint64_t value, const Labels& labels = {});
  void sample(double value, const Labels& labels = {});
  template<typename T> void sample(const std::optional<T>& value, const Labels& labels = {}) {
    if (value) sample(*value, labels);
  }
  void samples(const Histogram& histogram, const Buckets& buckets, const Labels& labels = {});

  std::string text() && { return std::move(text_); }

private:
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void line(std::string_view suffix, const Labels& labels, std::string_view more, std::string_view value);

  std::string common_;
  std::string name_, head_;
  std::string text_;
};

}
