#include "userspace/cli/pattern_settings.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "userspace/cli/parse.h"

namespace iotrace {

namespace {

Result<double> percent(const std::string& word) {
  auto value = parse_number(word, 0, 100);
  if (!value)
    return usage_error(fmt::format("--cold-pct '{}': needs a percentage from 0 to 100, such as 10", word));
  return *value;
}

Result<double> theta(const std::string& word) {
  auto value = parse_number(word, 0, 1);
  if (!value || *value == 0 || *value == 1)
    return usage_error(fmt::format(
        "--zipf-theta '{}': needs a number above 0 (even) and below 1 (skewed), such as 0.99", word));
  return *value;
}

bool reads_by(const Options& options, std::string_view pattern) {
  return std::ranges::find(options.patterns, pattern) != options.patterns.end();
}

}

void declare_pattern_options(CLI::App& run, RunWords& words) {
  run.add_option("--hot-size", words.hot_size, "hot-cold: size of the hot part, at the start (16M)");
  run.add_option("--cold-pct", words.cold_pct, "hot-cold: percents of reads that go elsewhere (10)");
  run.add_option("--zipf-theta", words.zipf_theta, "zipf: skews, between 0 and 1 (0.99)");
  run.add_option("--stride", words.stride, "strided: steps from read to read (1M)");
}

Status take_patterns(const RunWords& words, RunSettings& settings) {
  Options& options = settings.options;
  struct {
    std::string_view option;
    const std::string& word;
    std::string_view pattern;
  } const owned[] = {{"--hot-size", words.hot_size, "hot-cold"},
                     {"--cold-pct", words.cold_pct, "hot-cold"},
                     {"--zipf-theta", words.zipf_theta, "zipf"},
                     {"--stride", words.stride, "strided"}};
  for (const auto& [option, word, pattern] : owned)
    if (!word.empty() && !reads_by(options, pattern))
      return usage_error(
          fmt::format("{} '{}': is for the pattern {}; add --pattern {}", option, word, pattern, pattern));

  auto given_or = [](const std::string& word, const char* otherwise) {
    return word.empty() ? std::string(otherwise) : word;
  };
  if (reads_by(options, "hot-cold")) {
    auto size = parse_size("--hot-size", given_or(words.hot_size, "16M"));
    if (!size) return size.error();
    options.hot_size_bytes = *size;
    if (Status taken = parse_values("--cold-pct", given_or(words.cold_pct, "10"), options.cold_pct, percent);
        !taken)
      return taken;
  }
  if (reads_by(options, "zipf"))
    if (Status taken =
            parse_values("--zipf-theta", given_or(words.zipf_theta, "0.99"), options.zipf_theta, theta);
        !taken)
      return taken;
  if (reads_by(options, "strided"))
    return parse_values("--stride", given_or(words.stride, "1M"), options.stride_bytes,
                        [](const std::string& word) { return parse_size("--stride", word); });
  return {};
}

Status check_patterns(const RunSettings& settings, std::uint64_t file_bytes) {
  const Options& options = settings.options;
  if (!options.hot_size_bytes) return {};
  const std::uint64_t longest = std::ranges::max(options.read_size_bytes);
  const std::uint64_t hot = *options.hot_size_bytes;
  if (hot < longest)
    return usage_error(
        fmt::format("--hot-size {}: is shorter than one read of {} bytes; make it larger", hot, longest));
  // Where cold reads begin, counted in --align.
  const std::uint64_t cold = (hot + options.align_bytes - 1) / options.align_bytes * options.align_bytes;
  if (cold + longest > file_bytes)
    return usage_error(
        fmt::format("--hot-size {}: leaves no room for a cold read of {} bytes in a file of {}; "
                    "make it smaller, or the file larger",
                    hot, longest, file_bytes));
  return {};
}

}
