#include "userspace/cli/log_settings.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "userspace/cli/parse.h"

namespace iotrace {

namespace {

constexpr double kLongestWindow = 3600;  // seconds: far beyond what the log has room for

}

void declare_log_options(CLI::App& command, LogWords& words, const std::string& since) {
  command.add_flag("--stacks", words.stacks,
                   "Keep user and kernel stacks of faults that wait, for report --format folded; needs -o");
  command.add_option("--window", words.window,
                     fmt::format("Keep single events of so long after {}, for report --format trace: 2s; "
                                 "needs -o",
                                 since));
}

Result<Logs> log_settings(const LogWords& words, const std::string& output,
                          const std::vector<std::string>& probes) {
  Logs logs{.stacks = words.stacks};
  if (words.stacks && output.empty())
    return usage_error("--stacks: name a file for the record by -o; report --format folded reads it");
  if (words.stacks && !probes.empty() && std::ranges::find(probes, "faults") == probes.end())
    return usage_error("--stacks are of faults; add faults to --probes");
  if (words.window.empty()) return logs;
  auto seconds = parse_duration("--window", words.window);
  if (!seconds) return seconds.error();
  if (*seconds <= 0 || *seconds > kLongestWindow)
    return usage_error(fmt::format("--window '{}': above 0 and at most 1 hour, as in 2s", words.window));
  if (output.empty())
    return usage_error("--window: name a file for the record by -o; report --format trace reads it");
  logs.window_ns = static_cast<std::uint64_t>(*seconds * 1e9);
  return logs;
}

}
