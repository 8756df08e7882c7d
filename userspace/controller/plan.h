#pragma once
// What a run will do: its cells, and the order in which their repetitions come.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/run_record.h"
#include "userspace/cases/case.h"
#include "userspace/patterns/pattern.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

// One row of the record to be.
struct PlannedRow {
  const Strategy* strategy = nullptr;
  const Case* cache_case = nullptr;
  const Pattern* pattern = nullptr;
  std::uint32_t threads = 1;
  std::uint64_t read_size_bytes = 0;
  std::uint32_t reads_per_op = 1;
  Cell cell;             // as asked for; cell.rate is not known yet where cell.rate_pct is given
  bool control = false;  // the A/A repeat: untraced only, where anything is untraced
};

struct PlannedRepetition {
  std::size_t row = 0;  // index into Plan::rows
  bool traced = false;
  std::uint32_t round = 0;
  // Other than 0: once more with the dear probes attached, for as many operations as the traced repetition of
  // this round has done, so that counts per operation compare.
  std::uint64_t dear_pass_ops = 0;
};

struct Plan {
  std::vector<PlannedRow> rows;
  std::vector<PlannedRepetition> repetitions;
};

// Rows: case x pattern x cell x read size x threads x strategy, each group with its control. Repetitions:
// group by case and by step of the memory sweep (changing them costs most), then by round; within a round the
// rows come in an order that is shuffled anew from the seed, a traced repetition next to its row's untraced
// one.
//   errors  usage: an unknown name (with the nearest known one), a sequential-only strategy asked for another
//   pattern
//   tables  one after the other
Result<Plan> make_plan(std::span<const Options> tables, std::uint64_t seed);

}
