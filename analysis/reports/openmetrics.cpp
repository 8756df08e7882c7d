// For Prometheus: of `attach` counters, histograms and gauges of the target and its files, of `run` a gauge
// each number of a row.

#include "analysis/reports/openmetrics.h"

#include "analysis/reports/openmetrics_parts.h"
#include "analysis/reports/report.h"

namespace iotrace {

std::string WatchMetrics::render(const RunRecord& record) {
  // Two watches on one machine end up in one scrape: the target tells their series apart.
  Exposition metrics({{"target", record.target ? record.target->asked : ""}});
  add_watch_metrics(metrics, record);
  add_file_metrics(metrics, files_.update(record));
  add_io_metrics(metrics, record);
  add_wait_metrics(metrics, record);
  add_finding_metrics(metrics, record);
  return std::move(metrics).text();
}

namespace {

std::string render_openmetrics(const RunRecord& record, const ReportOptions&) {
  if (record.target) return WatchMetrics().render(record);
  Exposition metrics;
  add_watch_metrics(metrics, record);
  add_row_metrics(metrics, record);
  add_finding_metrics(metrics, record);
  return std::move(metrics).text();
}

}

extern const ReportFormat openmetrics_report;
const ReportFormat openmetrics_report{"openmetrics",
                                      "metrics for Prometheus, as attach --textfile writes them",
                                      render_openmetrics, false, ".prom"};

}
