#pragma once
// A watched process as Prometheus sees it. The counters are sums since the watch began; a new watch begins at
// 0, as any restart does.

#include <string>

#include "analysis/reports/file_series.h"
#include "analysis/run_record.h"

namespace iotrace {

// Renders the records of one watch, one after the other: remembers which file was counted where.
class WatchMetrics {
public:
  // record  of command attach, with target and totals; counts are sums since the watch began
  std::string render(const RunRecord& record);

private:
  FileSeries files_;
};

}
