#include "analysis/memory_sweep.h"

#include <algorithm>
#include <functional>

#include "analysis/comparison.h"

namespace iotrace {

namespace {

Row without_memory(const Row& row) {
  Row reads;
  reads.pattern = row.pattern;
  reads.threads = row.threads;
  reads.read_size_bytes = row.read_size_bytes;
  reads.reads_per_op = row.reads_per_op;
  reads.cell = row.cell;
  reads.cell.memory_limit_bytes.reset();
  reads.cell.memory_of_file_ratio.reset();
  return reads;
}

}

bool same_reads(const Row& a, const Row& b) {
  return a.strategy == b.strategy && same_cell(without_memory(a), without_memory(b));
}

std::vector<MemorySweep> memory_sweeps(const RunRecord& record) {
  std::vector<MemorySweep> sweeps;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index) {
    const Row& row = record.rows[index];
    if (!row.cell.memory_of_file_ratio || row.control) continue;
    auto sweep = std::ranges::find_if(
        sweeps, [&](const MemorySweep& steps) { return same_reads(record.rows[steps.front()], row); });
    if (sweep == sweeps.end()) sweep = sweeps.insert(sweeps.end(), MemorySweep());
    sweep->push_back(index);
  }
  for (MemorySweep& sweep : sweeps)
    std::ranges::stable_sort(sweep, std::greater(), [&](std::uint32_t index) {
      return *record.rows[index].cell.memory_of_file_ratio;
    });
  return sweeps;
}

}
