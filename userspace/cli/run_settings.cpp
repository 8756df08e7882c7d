#include "userspace/cli/run_settings.h"

#include <sys/random.h>

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "userspace/cli/memory_settings.h"
#include "userspace/cli/nearest.h"
#include "userspace/cli/pace_settings.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/pattern_settings.h"
#include "userspace/cli/presets.h"
#include "userspace/probes/probe_set.h"
#include "userspace/strategies/strategy.h"
#include "userspace/worker/shared_block.h"

namespace iotrace {

namespace {

constexpr std::uint64_t kScratchBytes = 512ull << 20;
constexpr std::uint64_t kMostReadsPerOp = 4096;
constexpr std::uint64_t kMostReadSize = 64ull << 20;
constexpr std::uint64_t kMostRepetitions = 10'000;

// One traced repetition carries the counters of up to this many untraced ones.
constexpr std::uint32_t kUntracedPerTraced = 10;

// Nothing that shapes the measurement was named: take a quick look of under two minutes.
bool bare(const RunWords& w) {
  for (const std::string* word :
       {&w.file,         &w.size,   &w.strategies, &w.cases,   &w.patterns,   &w.threads,  &w.read_size,
        &w.reads_per_op, &w.align,  &w.duration,   &w.ops,     &w.warmup,     &w.reps,     &w.memory,
        &w.memory_sweep, &w.probes, &w.rate,       &w.compute, &w.mmap_churn, &w.write_pct})
    if (!word->empty()) return false;
  return true;
}

std::string or_default(const std::string& word, const char* otherwise) {
  return word.empty() ? otherwise : word;
}

bool in_order_only(const std::vector<std::string>& patterns) {
  return patterns == std::vector<std::string>{"sequential"};
}

// 'all': no specimens, and those that read in order only where nothing else is asked for.
Result<std::vector<std::string>> strategy_names(const std::string& words,
                                                const std::vector<std::string>& patterns) {
  auto names = parse_list("--strategy", words);
  if (!names || *names != std::vector<std::string>{"all"}) return names;
  names->clear();
  for (const Strategy& s : strategies())
    if (!s.specimen && (!s.sequential_only || in_order_only(patterns))) names->emplace_back(s.name);
  return names;
}

// "on", "off", or names of the probes to switch on; "paired", alone or before names: as many traced
// repetitions as untraced.
Status choose_probes(const std::string& words, RunSettings& settings) {
  Options& options = settings.options;
  options.probes = words;
  if (words == "off") return {};
  options.traced_reps = (options.reps + kUntracedPerTraced - 1) / kUntracedPerTraced;
  if (words == "on") return {};

  auto names = parse_list("--probes", words);
  if (!names) return names.error();
  if (names->front() == "paired") {
    options.traced_reps = options.reps;
    names->erase(names->begin());
  }
  std::vector<std::string_view> known{"on", "off", "paired"};
  for (const ProbeInfo& probe : probe_list()) known.push_back(probe.name);
  for (const std::string& name : *names)
    if (std::ranges::find(known.begin() + 3, known.end(), name) == known.end())
      return unknown_name("probe", name, known);
  settings.probe_names = std::move(*names);
  return {};
}

std::uint64_t fresh_seed() {
  std::uint32_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = 42;
  return seed;
}

}

void declare_run_options(CLI::App& run, RunWords& words) {
  run.add_option("--file", words.file,
                 "File to read; opened read-only. Default: a scratch file of --size, removed at the end");
  run.add_option("--size", words.size, "Size of the scratch file (512M)");
  run.add_option("--strategy", words.strategies,
                 "Strategies, or 'all' (mmap,mmap-random,mmap-random-willneed,pread,io_uring); see iotrace "
                 "list strategies");
  run.add_option("--case", words.cases, "Cache states (cold,warm); see iotrace list cases");
  run.add_option("--pattern", words.patterns, "Where the reads go (random); see iotrace list patterns");
  declare_pattern_options(run, words);
  run.add_option("--threads", words.threads, "Numbers of reader threads (1,4)");
  run.add_option("--read-size", words.read_size, "Bytes per read (16K)");
  run.add_option("--reads-per-op", words.reads_per_op,
                 "Reads per operation, the batch that is timed (16; 128 if all are sequential)");
  run.add_option("--align", words.align, "Offsets are multiples of this (1: any byte)");
  run.add_option("--duration", words.duration, "Length of a repetition (0.5; 0.3 in a bare run)");
  run.add_option("--ops", words.ops,
                 "End a repetition after this many operations, shared by its threads, instead");
  run.add_option("--warmup", words.warmup, "Warm-up before each warm repetition (0.1)");
  run.add_option("--reps", words.reps, "Untraced repetitions of each row (10; 6 in a bare run)");
  run.add_option("--seed", words.seed, "Seed of offsets and order (random, printed)");
  run.add_option("--user", words.user,
                 "Who the reads are made as: name or uid (who called sudo, else the file's owner, else "
                 "nobody); 0 only if named");
  declare_memory_options(run, words);
  run.add_option("--probes", words.probes,
                 "on: one traced repetition in addition for every 10; paired: as many traced as untraced; "
                 "off: none, needs no root; or names of probes, after 'paired,' likewise (on)");
  run.add_flag("--no-canary", words.no_canary,
               "Don't let the probes count a known work on the file's first pages first");
  declare_log_options(run, words.logs, "the start of each row's first traced repetition");
  run.add_flag("--strict", words.strict,
               "Measure nothing, exit 3, unless every probe works and has counted that work right");
  run.add_option("--preset", words.preset,
                 "The tables of a known discussion: lucene-16279, lucene-16145, lkml-2002, quick or full; "
                 "options named beside it hold");
  run.add_option("--ceiling", words.ceiling,
                 "on: measure first what the device delivers past the cache, about 2 s (on); off");
  run.add_flag("--fio", words.fio, "Measure each row again by fio, where fio has the strategy");
  run.add_flag("--dry-run", words.dry_run, "Say what would be measured, and stop");
  run.add_option("-o,--output", words.output, "Write the record (JSON) to this file");
  declare_pace_options(run, words);
  run.add_flag("--histograms", words.histograms, "Show latency histograms");
  run.add_flag("--details", words.details,
               "Show requests to the device, readahead windows, locks, memory and the longest faults");
}

namespace {

// Of one table.
Result<RunSettings> table_settings(const RunWords& w) {
  RunSettings s;
  Options& o = s.options;
  const bool quick = bare(w);

  if (!w.file.empty() && !w.size.empty())
    return usage_error("--size is for the scratch file; leave it out with --file");
  if (!w.file.empty()) s.file = w.file;
  if (!w.output.empty()) s.output = w.output;
  if (!w.user.empty()) s.user = w.user;
  s.histograms = w.histograms;
  s.details = w.details;
  s.size_bytes = kScratchBytes;
  if (!w.size.empty()) {
    auto size = parse_size("--size", w.size);
    if (!size) return size.error();
    s.size_bytes = *size;
  }

  auto patterns = parse_list("--pattern", or_default(w.patterns, "random"));
  if (!patterns) return patterns.error();
  o.patterns = std::move(*patterns);
  auto names = strategy_names(
      or_default(w.strategies, "mmap,mmap-random,mmap-random-willneed,pread,io_uring"), o.patterns);
  if (!names) return names.error();
  o.strategies = std::move(*names);
  auto cases = parse_list("--case", or_default(w.cases, "cold,warm"));
  if (!cases) return cases.error();
  o.cases = std::move(*cases);
  if (Status taken = take_patterns(w, s); !taken) return taken.error();

  if (Status done = parse_values(
          "--threads", or_default(w.threads, "1,4"), o.threads,
          [](const std::string& item) { return parse_count("--threads", item, 1, kMostThreads); });
      !done)
    return done.error();
  if (Status done = parse_values("--read-size", or_default(w.read_size, "16K"), o.read_size_bytes,
                                 [](const std::string& item) { return parse_size("--read-size", item); });
      !done)
    return done.error();
  for (std::uint64_t size : o.read_size_bytes)
    if (size > kMostReadSize) return usage_error(fmt::format("--read-size '{}': at most 64M", w.read_size));

  auto reads =
      parse_count("--reads-per-op", or_default(w.reads_per_op, in_order_only(o.patterns) ? "128" : "16"), 1,
                  kMostReadsPerOp);
  if (!reads) return reads.error();
  o.reads_per_op = static_cast<std::uint32_t>(*reads);
  auto align = parse_size("--align", or_default(w.align, "1"));
  if (!align) return align.error();
  o.align_bytes = *align;
  auto duration = parse_duration("--duration", or_default(w.duration, quick ? "0.3" : "0.5"));
  if (!duration) return duration.error();
  if (*duration <= 0) return usage_error("--duration must be longer than 0");
  o.duration_s = *duration;
  auto warmup = parse_duration("--warmup", or_default(w.warmup, "0.1"));
  if (!warmup) return warmup.error();
  o.warmup_s = *warmup;
  if (!w.ops.empty()) {
    auto ops = parse_count("--ops", w.ops, 1, UINT64_MAX / 2);
    if (!ops) return ops.error();
    o.ops = *ops;
  }
  auto reps = parse_count("--reps", or_default(w.reps, quick ? "6" : "10"), 1, kMostRepetitions);
  if (!reps) return reps.error();
  o.reps = static_cast<std::uint32_t>(*reps);
  s.seed = fresh_seed();
  if (!w.seed.empty()) {
    auto seed = parse_count("--seed", w.seed, 0, UINT64_MAX);
    if (!seed) return seed.error();
    s.seed = *seed;
  }
  if (Status taken = take_memory(w, s); !taken) return taken.error();
  if (Status taken = take_pace(w, s); !taken) return taken.error();
  if (Status chosen = choose_probes(or_default(w.probes, "on"), s); !chosen) return chosen.error();
  return s;
}

template<typename Item> void join(std::vector<Item>& all, const std::vector<Item>& more) {
  for (const Item& item : more)
    if (std::ranges::find(all, item) == all.end()) all.push_back(item);
}

// What the record says was asked for: the lists of both.
void add_lists(Options& all, const Options& more) {
  join(all.strategies, more.strategies);
  join(all.cases, more.cases);
  join(all.patterns, more.patterns);
  join(all.threads, more.threads);
  join(all.read_size_bytes, more.read_size_bytes);
  join(all.cold_pct, more.cold_pct);
  join(all.write_pct, more.write_pct);
}

}

Result<RunSettings> run_settings(const RunWords& asked) {
  RunWords words = asked;
  auto preset = apply_preset(words);
  if (!preset) return preset.error();
  auto settings = table_settings(words);
  if (!settings) return settings;
  settings->dry_run = words.dry_run;
  settings->fio = words.fio;
  if (!words.ceiling.empty() && words.ceiling != "on" && words.ceiling != "off")
    return usage_error(fmt::format("--ceiling '{}': on or off", words.ceiling));
  settings->ceiling = words.ceiling != "off";
  if (words.strict && words.no_canary)
    return usage_error("--strict asks for proven probes, which --no-canary leaves unproven; leave out one");
  if (words.strict && settings->options.probes == "off")
    return usage_error("--strict asks for proven probes, and --probes off has none; leave out one");
  if ((words.logs.stacks || !words.logs.window.empty()) && settings->options.probes == "off")
    return usage_error("--stacks and --window are kept by probes, and --probes off has none; leave out one");
  auto logs = log_settings(words.logs, settings->output.value_or(""), settings->probe_names);
  if (!logs) return logs.error();
  settings->logs = *logs;
  settings->canary = !words.no_canary;
  settings->strict = words.strict;
  settings->tables = {settings->options};
  if (!*preset || !(*preset)->second) return settings;

  auto second = table_settings(second_table(**preset, asked, words));
  if (!second) return second;
  add_lists(settings->options, second->options);
  settings->tables.push_back(second->options);
  return settings;
}

}
