#pragma once
// What shapes the patterns: --hot-size and --cold-pct, --zipf-theta, --stride.

#include "userspace/cli/run_settings.h"

namespace iotrace {

void declare_pattern_options(CLI::App& run, RunWords& words);

// Takes the options of the patterns chosen (settings.options.patterns), with their defaults.
//   errors   usage: a bad word, or an option without its pattern
Status take_patterns(const RunWords& words, RunSettings& settings);

// What only the file's size can tell.
//   errors   usage: the hot part leaves no room for a read beside it, or has none inside
Status check_patterns(const RunSettings& settings, std::uint64_t file_bytes);

}
