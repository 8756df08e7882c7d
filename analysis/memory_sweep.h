#pragma once
// Rows that differ in their memory alone.

#include <cstdint>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

// The same strategy makes the same reads with as many threads, whatever the case and the memory are.
bool same_reads(const Row& a, const Row& b);

// The steps of each memory sweep of the record, from much memory to little; sweeps in order of appearance.
// Rows with an error are among them, the A/A control is not.
using MemorySweep = std::vector<std::uint32_t>;  // indexes into RunRecord::rows
std::vector<MemorySweep> memory_sweeps(const RunRecord& record);

}
