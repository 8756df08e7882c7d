#include "userspace/cli/pace_settings.h"

#include <algorithm>
#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "userspace/cli/parse.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

// More than any machine serves; what was not served is counted one by one.
constexpr double kMostOpsPerSecond = 1e7;
// Beyond its capacity a row is overloaded, and twice is enough to see it.
constexpr double kMostPercent = 200;
// A number without a unit means seconds, and is more likely meant as microseconds.
constexpr double kLongestCompute = 1;
constexpr double kMostChurn = 1e6;

Error bad(std::string_view option, std::string_view word, std::string_view wanted) {
  return usage_error(fmt::format("{} '{}': {}", option, word, wanted));
}

// An option that was given.
template<typename Value, typename Parse>
Status take_given(std::string_view option, const std::string& words, std::vector<Value>& into, Parse parse) {
  return words.empty() ? Status() : parse_values(option, words, into, parse);
}

Result<std::string> rate(const std::string& word) {
  constexpr std::string_view wanted =
      "needs ops per second above 0, at most 10000000, or a percentage of the capacity up to 200%, such as "
      "500 or 80%";
  const bool percent = word.ends_with('%');
  const auto number = parse_number(std::string_view(word).substr(0, word.size() - percent), 0,
                                   percent ? kMostPercent : kMostOpsPerSecond);
  if (!number || *number == 0) return bad("--rate", word, wanted);
  return word;
}

Result<std::uint64_t> compute_ns(const std::string& word) {
  auto seconds = parse_duration("--compute", word);
  if (!seconds) return seconds.error();
  if (*seconds > kLongestCompute) return bad("--compute", word, "is longer than 1s; write 50us or 2ms");
  return static_cast<std::uint64_t>(std::llround(*seconds * 1e9));
}

Result<double> churn(const std::string& word) {
  if (auto number = parse_number(word, 0, kMostChurn)) return *number;
  return bad("--mmap-churn", word, "needs maps per second from 0 to 1000000, such as 2000");
}

Result<double> write_pct(const std::string& word) {
  if (auto number = parse_number(word, 0, 100)) return *number;
  return bad("--write-pct", word, "needs a percentage from 0 to 100, such as 50");
}

Status take_writes(const RunWords& words, RunSettings& settings) {
  if (words.write_pct.empty()) return {};
  if (settings.file)
    return bad("--write-pct", words.write_pct,
               "writes, which only a scratch file is there for; leave out --file");
  Options& options = settings.options;
  if (Status taken = take_given("--write-pct", words.write_pct, options.write_pct, write_pct); !taken)
    return taken;
  for (const std::string& name : options.strategies)
    if (const Strategy* strategy = find_strategy(name); strategy && strategy->bypasses_cache)
      return bad(
          "--write-pct", words.write_pct,
          fmt::format("writes through the page cache, which strategy '{}' reads past; leave one out", name));
  return {};
}

}

void declare_pace_options(CLI::App& run, RunWords& words) {
  run.add_option("--rate", words.rate,
                 "Open loop: ops per second of all threads together, or percents of the capacity that is "
                 "measured first (50%,80%,95%); latency counts from the intended start");
  run.add_option("--arrivals", words.arrivals, "Open loop: poisson or fixed distances (poisson)");
  run.add_option("--compute", words.compute, "Busy work between hint and read (0): 5us");
  run.add_option("--mmap-churn", words.mmap_churn,
                 "Maps, touches and unmaps of another file per second, by a thread beside the readers (0)");
  run.add_option("--write-pct", words.write_pct,
                 "Percents of reads that are writes instead (0); on the scratch file only");
}

Status take_pace(const RunWords& words, RunSettings& settings) {
  Options& options = settings.options;
  if (!words.arrivals.empty()) {
    if (words.arrivals != "poisson" && words.arrivals != "fixed")
      return bad("--arrivals", words.arrivals, "needs poisson or fixed");
    if (words.rate.empty())
      return bad("--arrivals", words.arrivals, "is for an open loop; add --rate, such as --rate 80%");
    options.arrivals = words.arrivals;
  }
  if (Status taken = take_given("--rate", words.rate, options.rates, rate); !taken) return taken;
  if (Status taken = take_given("--compute", words.compute, options.compute_ns, compute_ns); !taken)
    return taken;
  if (Status taken = take_given("--mmap-churn", words.mmap_churn, options.mmap_churn, churn); !taken)
    return taken;
  return take_writes(words, settings);
}

}
