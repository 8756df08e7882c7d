#pragma once
// The parts of the format openmetrics, in the order of the text.

#include "analysis/reports/exposition.h"
#include "analysis/reports/file_series.h"
#include "analysis/run_record.h"

namespace iotrace {

// What iotrace is, whom it watches, whether its probes work and what they cost.
void add_watch_metrics(Exposition& metrics, const RunRecord& record);
void add_finding_metrics(Exposition& metrics, const RunRecord& record);

void add_file_metrics(Exposition& metrics, const std::vector<FileSeries::Series>& files);

// Of the target as a whole: faults and device reads; locks, calls and memory.
void add_io_metrics(Exposition& metrics, const RunRecord& record);
void add_wait_metrics(Exposition& metrics, const RunRecord& record);

// Of a benchmark: gauges, a sample each row.
void add_row_metrics(Exposition& metrics, const RunRecord& record);

}
