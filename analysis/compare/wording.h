#pragma once
// What the formats for people say of a comparison in the same words. Text from outside is made printable
// here; a format adds its own escapes.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/compared.h"

namespace iotrace::compare_wording {

// One phrase a record: "A  a.json: 2026-11-30T15:00:00Z, Linux 6.18.44, iotrace 0.1.0, seed 42"
std::vector<std::string> record_lines(const Comparison& all);

struct LineCell {
  std::string text;
  Verdict verdict = Verdict::kNoneProven;  // of a change
};

struct Lines {
  std::vector<std::string> columns;  // the first two are labels: strategy, threads
  std::vector<std::vector<LineCell>> lines;
};

// "T04: cold, random, 16 KiB x 16 reads per op"
std::string heading_of(const Comparison& all, const CellTable& table);

// "ops/ms, median [95 % interval] of 10 repetitions"
std::string unit_of(const Comparison& all, const CellTable& table);

// A line per cell: the base, then of each other record throughput, change with its interval, and p.
Lines lines_of(const Comparison& all, const CellTable& table);

// "+12.5 % [+10.1, +15.0]", "x 205 [190-220]", after "~" where no difference is proven and "?" where none can
// be told; "-" where there is no ratio.
std::string change_text(const Difference& difference);
// "+12.5 %", "x 205"
std::string change_of(double ratio);
// "0.0022", "< 0.0001"
std::string p_text(double p);

// Which cells no difference is proven of, of which none can be told, and why.
std::vector<std::string> verdict_sentences(const Comparison& all, const CellTable& table);

// Of each proven difference what moved with it, the largest first.
std::vector<std::string> why_sentences(const Comparison& all, const CellTable& table);

// "B against A: faster in 3 of 8 cells, slower in 1, no difference proven in 4; geometric mean +12.5 %"
std::vector<std::string> summary_lines(const Comparison& all);

// "only in A: pread T01 T04 (cold, random, 16 KiB x 16 reads per op)"
std::vector<std::string> unmatched_lines(const Comparison& all);

// "~ no difference proven …": what the marks of the tables mean.
std::string legend(const Comparison& all);

std::string_view verdict_name(Verdict verdict);  // "faster", "no difference proven", …

}
