#pragma once
// What the probes know beyond the why tables, as tables for every format for people. Each in a file by its
// subject.

#include <optional>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/reports/wording.h"

namespace iotrace::wording {

// What became of the hints: calls, and pages by their fate. nullopt: no row gave any. Always shown.
std::optional<ResponseTable> hint_card(const RunRecord& record, const RowGroup& group);

// Behind --details, those that have a line: requests to the device, windows read ahead, faults and their
// locks, memory, the longest faults.
std::vector<ResponseTable> detail_tables(const RunRecord& record, const RowGroup& group);

// ---- of which they are made ----

// Rows of the group that the tables are about: in reading order, without errors and controls.
std::vector<std::uint32_t> rows_in_detail(const RunRecord& record, const RowGroup& group);

using Shown = std::vector<std::uint32_t>;  // as from rows_in_detail()

std::optional<ResponseTable> device_reads(const RunRecord& record, const Shown& shown);
std::optional<ResponseTable> readahead_windows(const RunRecord& record, const Shown& shown);
std::optional<ResponseTable> fault_details(const RunRecord& record, const Shown& shown);
std::optional<ResponseTable> longest_faults(const RunRecord& record, const Shown& shown);
std::optional<ResponseTable> lock_details(const RunRecord& record, const Shown& shown);
std::optional<ResponseTable> memory_details(const RunRecord& record, const Shown& shown);

}
