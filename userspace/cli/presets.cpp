#include "userspace/cli/presets.h"

#include <array>
#include <string>
#include <vector>

#include "userspace/cli/nearest.h"

namespace iotrace {

namespace {

// The words that shape a table; what is not here (file, seed, output) is the user's alone.
constexpr std::array kShaping{&RunWords::strategies, &RunWords::cases,     &RunWords::patterns,
                              &RunWords::threads,    &RunWords::read_size, &RunWords::reads_per_op,
                              &RunWords::align,      &RunWords::duration,  &RunWords::reps,
                              &RunWords::hot_size,   &RunWords::cold_pct,  &RunWords::write_pct,
                              &RunWords::warmup};

void fill_in(RunWords& words, const RunWords& otherwise) {
  for (auto word : kShaping)
    if ((words.*word).empty()) words.*word = otherwise.*word;
}

}

std::span<const Preset> presets() {
  static const std::vector<Preset> all{
      {"lucene-16279",
       "mmap, prefetch and pread in four states of the cache by threads, then in order (Lucene PR 16279)",
       {.strategies =
            "mmap,mmap-random,mmap-willneed-backoff,mmap-random-willneed-backoff,pread,filechannel,direct",
        .cases = "warm,pressure,half-cold,cold",
        .patterns = "random",
        .threads = "1,4,8,16",
        .duration = "0.2",
        .reps = "7"},  // the fewest with which one of a table's 24 comparisons can be proven
       RunWords{.strategies =
                    "mmap,mmap-sequential,mmap-random,mmap-random-willneed-backoff,pread,filechannel,direct",
                .cases = "cold",
                .patterns = "sequential",
                .threads = "1",
                .read_size = "16K,64K,128K",
                .reads_per_op = "128"}},
      {"lucene-16145",
       "back-off against always hinting, by the share of reads that leave the hot region (Lucene PR 16145)",
       {.strategies =
            "mmap-random,mmap-willneed-backoff,mmap-random-willneed-backoff,mmap-random-willneed-mincore,"
            "mmap-random-willneed",
        .cases = "cold,warm",
        .patterns = "hot-cold",
        .threads = "1",
        .read_size = "4K,8K,16K",
        .reads_per_op = "1",
        .reps = "6",
        .hot_size = "16M",
        .cold_pct = "10,50,90"}},
      {"lkml-2002",
       "read(2) against mmap in order, by block size (\"MMAP vs READ/WRITE\", linux-kernel 2002)",
       {.strategies = "read,mmap,mmap-sequential",
        .cases = "warm,half-cold",
        .patterns = "sequential",
        .threads = "1",
        .read_size = "32,1K,4K",
        .reads_per_op = "1",
        .reps = "6"},
       RunWords{.strategies = "pread,mmap", .patterns = "random", .write_pct = "50"}},
      {"quick",
       "what a run without options does",
       {.strategies = "mmap,mmap-random,mmap-random-willneed,pread,io_uring",
        .cases = "cold,warm",
        .patterns = "random",
        .threads = "1,4",
        .duration = "0.3",
        .reps = "6"}},
      {"full",
       "every strategy in every state of the cache, in hours rather than minutes",
       {.strategies = "all",
        .cases = "warm,resident,pressure,half-cold,cold",
        .patterns = "random",
        .threads = "1,4,8,16",
        .duration = "1",
        .reps = "10"}},
  };
  return all;
}

Result<const Preset*> apply_preset(RunWords& words) {
  if (words.preset.empty()) return static_cast<const Preset*>(nullptr);
  std::vector<std::string_view> known;
  for (const Preset& preset : presets()) {
    known.push_back(preset.name);
    if (preset.name != words.preset) continue;
    fill_in(words, preset.words);
    return &preset;
  }
  return unknown_name("preset", words.preset, known);
}

RunWords second_table(const Preset& preset, const RunWords& asked, const RunWords& first) {
  RunWords words = asked;
  fill_in(words, *preset.second);
  fill_in(words, first);
  return words;
}

}
