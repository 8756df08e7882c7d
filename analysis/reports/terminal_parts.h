#pragma once
// The parts that terminal.cpp puts together, each in a file of its own. All return whole lines of at most
// kTerminalWidth columns, ended by newlines.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"

namespace iotrace::terminal {

using namespace wording;

inline constexpr std::size_t kTerminalWidth = 100;

// Host, file, options: what a number needs to be believed elsewhere.
std::string head(const RunRecord& record, const ReportOptions& options);

// What the rows of a group have in common, and the residency that was measured around them.
std::string group_heading(const RunRecord& record, const RowGroup& group, const ReportOptions& options);

// Strategies by threads, with marks where something is proven, and below it the sentences that go with it:
// who is fastest, noise floor, drifted rows, errors.
std::string throughput_table(const RunRecord& record, const RowGroup& group, const ReportOptions& options);

// In its place for an open loop: service and response times.
std::string response_times(const RunRecord& record, const RowGroup& group, const ReportOptions& options);

// All steps of a memory sweep in one table; empty where there was none.
std::string memory_sweep(const RunRecord& record, const ReportOptions& options);

// Own ratios beside published ones; empty where none were asked for.
std::string published_results(const RunRecord& record, const ReportOptions& options);

// One line per strategy and thread count: bytes, hints, pages, faults, time, latency, CPU.
std::string why_tables(const RunRecord& record, const RowGroup& group, const ReportOptions& options);

// A line per strategy and thread count that gave hints: what became of them.
std::string hints(const RunRecord& record, const RowGroup& group, const ReportOptions& options);

// Requests to the device, readahead, faults, locks and memory, where something was counted.
std::string details(const RunRecord& record, const RowGroup& group, const ReportOptions& options);

// What the columns of why_tables() and hints() mean.
std::string why_legend(const RunRecord& record);

// Fault latency by kind as bcc draws it.
std::string fault_histograms(const RunRecord& record, const RowGroup& group);

// Which variant of each probe ran, what it could not match.
std::string probe_lines(const RunRecord& record);

std::string findings_list(const RunRecord& record, const ReportOptions& options);

// ---- shared by the parts ----

// A wrapped line with its continuation indented, and the newline.
std::string note(std::string_view text, std::size_t indent = 2);

}
