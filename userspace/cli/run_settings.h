#pragma once
// What `iotrace run` was asked to do, checked word by word before anything is touched.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_record.h"
#include "userspace/cli/log_settings.h"

namespace CLI {
class App;
}

namespace iotrace {

// The words as they stand on the command line; empty: not given.
struct RunWords {
  std::string file, size, strategies, cases, patterns, threads, read_size, reads_per_op, align, duration, ops,
      warmup, reps, seed, user, memory, probes, output;
  std::string rate, arrivals, compute, mmap_churn, write_pct, hot_size, cold_pct, zipf_theta, stride;
  std::string memory_sweep, preset, ceiling;
  bool ramhog = false, dry_run = false, fio = false, histograms = false, details = false;
  bool no_canary = false, strict = false;
  LogWords logs;
};

struct RunSettings {
  Options options;                  // of all tables together
  std::vector<Options> tables;      // one, but for presets of two
  std::optional<std::string> file;  // nullopt: a scratch file
  std::uint64_t size_bytes = 0;     // of the scratch file
  std::optional<std::string> user;
  std::optional<std::string> output;
  std::uint64_t seed = 0;
  std::vector<std::string> probe_names;  // empty: all
  bool dry_run = false, fio = false, ceiling = true;
  bool histograms = false, details = false;
  bool canary = true;   // prove the probes first
  bool strict = false;  // measure only if all of them are proven
  Logs logs;            // of traced repetitions
};

// Declares the options of `run` with their help.
void declare_run_options(CLI::App& run, RunWords& words);

// errors  usage: the option, the word, what is allowed
Result<RunSettings> run_settings(const RunWords& words);

}
