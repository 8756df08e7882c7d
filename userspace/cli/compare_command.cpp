#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "analysis/compare/compare_report.h"
#include "analysis/compare/pool.h"
#include "analysis/format.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/read_record.h"
#include "userspace/cli/terminal.h"

namespace iotrace {

namespace {

constexpr int kTooSlow = 4;

Result<std::optional<Dimension>> parse_by(const std::string& word) {
  if (word.empty()) return std::optional<Dimension>();
  if (auto dimension = dimension_named(word)) return dimension;
  return usage_error(fmt::format("--by '{}': needs strategy, threads or case", word));
}

// "5%" or "5" -> 0.05
Result<std::optional<double>> parse_fail_over(std::string_view word) {
  if (word.empty()) return std::optional<double>();
  std::string_view digits = word.ends_with('%') ? word.substr(0, word.size() - 1) : word;
  if (auto percent = parse_number(digits, 0, 100)) return std::optional(*percent / 100);
  return usage_error(fmt::format("--fail-over '{}': needs a percentage from 0 to 100, as in 5%", word));
}

Result<const CompareFormat*> parse_format(const std::string& word) {
  std::vector<std::string_view> names;
  for (const CompareFormat& known : compare_formats()) {
    if (known.name == word) return &known;
    names.push_back(known.name);
  }
  return usage_error(fmt::format("--format '{}': compare has {}", word, fmt::join(names, ", ")));
}

Result<NamedRecord> read_named(const std::string& name) {
  auto record = read_record(name, "compare");
  if (!record) return record.error();
  return NamedRecord{name, std::move(*record), {}};
}

Result<NamedRecord> read_group(const std::string& words) {
  auto names = parse_list("--group", words);
  if (!names) return names.error();
  std::vector<NamedRecord> sessions;
  for (const std::string& name : *names) {
    auto session = read_named(name);
    if (!session) return session.error();
    sessions.push_back(std::move(*session));
  }
  return pool(std::move(sessions));
}

// The records, or the groups: of both, the order on the command line would be lost, and with it the base.
Result<std::vector<NamedRecord>> read_all(const CompareWords& words) {
  if (std::ranges::count(words.records, "-") > 1)
    return usage_error("'-' names standard input twice: it holds one record");
  if (!words.records.empty() && !words.groups.empty())
    return usage_error(
        "--group names records itself: give all records by it, a single one as a group of one");
  std::vector<NamedRecord> records;
  for (const auto* names : {&words.records, &words.groups})
    for (const std::string& name : *names) {
      auto record = names == &words.groups ? read_group(name) : read_named(name);
      if (!record) return record.error();
      records.push_back(std::move(*record));
    }
  return records;
}

// Which rows are proven slower than allowed. Cells that can't be told fail nothing, and are said to.
int exit_code(const Comparison& all, double share) {
  std::uint32_t too_slow = 0, unknown = 0, cells = 0;
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells)
      for (const Difference& difference : cell.against) {
        ++cells;
        too_slow += slower_by_more_than(difference, share);
        unknown += difference.verdict == Verdict::kCannotTell;
      }
  if (unknown > 0)
    fmt::print(stderr, "iotrace: --fail-over can't tell in {} of {}; see the table for the reasons\n",
               unknown, counted(cells, "cell"));
  if (too_slow == 0) return 0;
  fmt::print(stderr, "iotrace: proven slower by more than {} in {} of {}\n", percent(share), too_slow,
             counted(cells, "cell"));
  return kTooSlow;
}

}

void declare_compare_options(CLI::App& compare, CompareWords& words) {
  compare.add_option("records", words.records,
                     "Records from run -o, the one to compare with first; - is standard input");
  compare
      .add_option("--group", words.groups,
                  "Runs of one configuration as one record, comma-separated: --group a1.json,a2.json "
                  "--group b1.json,b2.json, measured in turns")
      ->allow_extra_args(false);
  compare.add_option("--format", words.format, "terminal, markdown, json, csv or html");
  compare.add_option("--by", words.by,
                     "strategy, threads or case: within one record, compare its rows with those of the first "
                     "strategy, the fewest threads or the first case; of several, group the cells so, with a "
                     "geometric mean each");
  compare.add_option("--fail-over", words.fail_over,
                     "Exit with 4 where a row is proven slower by more than this, as in 5%, the whole "
                     "interval of the change beyond it");
}

int compare_command(const CompareWords& words) {
  auto format = parse_format(words.format);
  if (!format) return report_error(format.error());
  auto by = parse_by(words.by);
  if (!by) return report_error(by.error());
  auto fail_over = parse_fail_over(words.fail_over);
  if (!fail_over) return report_error(fail_over.error());
  auto records = read_all(words);
  if (!records) return report_error(records.error());

  auto comparison = compare_records(std::move(*records), *by);
  if (!comparison) return report_error(comparison.error());
  fmt::print("{}", (*format)->render(*comparison, {.colour = wants_colour()}));
  return *fail_over ? exit_code(*comparison, **fail_over) : 0;
}

}
