#include <algorithm>
#include <map>

#include "analysis/reports/openmetrics_parts.h"

namespace iotrace {

namespace {

void add_probe_metrics(Exposition& metrics, const std::vector<ProbeStatus>& statuses) {
  struct Probe {
    bool up = true;
    Count lost = 0, unmatched = 0;
  };
  std::map<std::string, Probe> probes;  // what a probe may say twice counts once
  for (const ProbeStatus& status : statuses) {
    Probe& probe = probes[label_text(status.name)];
    probe.up = probe.up && status.variant.has_value();
    probe.lost += status.lost;
    probe.unmatched += status.unmatched;
  }
  metrics.gauge("iotrace_probe_up", "Whether the probe is attached; without it its numbers are absent.");
  for (const auto& [name, probe] : probes) metrics.sample(Count{probe.up}, {{"probe", name}});
  metrics.counter("iotrace_events_lost_total", "Events that the probe could not count where they belong.");
  for (const auto& [name, probe] : probes) metrics.sample(probe.lost, {{"probe", name}});
  metrics.counter("iotrace_events_unmatched_total",
                  "Ends without their start that the probe saw: under way when the watch began.");
  for (const auto& [name, probe] : probes) metrics.sample(probe.unmatched, {{"probe", name}});
}

}

void add_watch_metrics(Exposition& metrics, const RunRecord& record) {
  metrics.gauge("iotrace_build_info", "Always 1; the version of iotrace and the kernel's are its labels.");
  metrics.sample(Count{1}, {{"version", record.iotrace}, {"kernel", record.host.kernel}});
  if (record.target) {
    const AttachTarget& target = *record.target;
    metrics.gauge("iotrace_target_processes", "Processes of the target that are still there.");
    metrics.sample(static_cast<Count>(std::ranges::count_if(
        target.processes, [](const WatchedProcess& process) { return !process.ended; })));
    metrics.counter("iotrace_watch_seconds_total", "Seconds that iotrace has watched the target.");
    metrics.sample(target.seconds);
    metrics.gauge("iotrace_observer_cpu_ratio",
                  "Processor time of the probes, of one processor, in samples since the watch began.");
    metrics.sample(target.observer_cpu_ratio);
    metrics.gauge("iotrace_files_left_out",
                  "Files past the bound of iotrace's table: counted in the totals and as file=\"other\".");
    metrics.sample(target.files_left_out);
    metrics.gauge("iotrace_threads_left_out",
                  "Threads past the bound of iotrace's table: counted in the totals.");
    metrics.sample(target.threads_left_out);
  }
  if (record.totals) add_probe_metrics(metrics, record.totals->probes);
}

void add_finding_metrics(Exposition& metrics, const RunRecord& record) {
  std::map<std::pair<std::string, std::string>, Count> findings;
  for (const Finding& finding : record.findings) ++findings[{finding.id, finding.severity}];
  metrics.gauge("iotrace_findings", "Findings that hold now; absent while there is none.");
  for (const auto& [finding, count] : findings)
    metrics.sample(count, {{"id", finding.first}, {"severity", finding.second}});
}

}
