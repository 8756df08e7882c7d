#include "analysis/reports/openmetrics_parts.h"

namespace iotrace {

namespace {

void add_fault_metrics(Exposition& metrics, const Faults& faults) {
  metrics.histogram("iotrace_page_fault_duration_seconds",
                    "Duration of the target's page faults; kind=\"other\" are faults outside files.");
  const std::pair<const char*, const std::optional<FaultClass>&> classes[] = {
      {"mapped", faults.mapped}, {"waited", faults.waited}, {"read", faults.read}, {"other", faults.other}};
  for (const auto& [kind, fault_class] : classes)
    if (fault_class) metrics.samples(fault_class->lat_ns, kDurations, {{"kind", kind}});
  metrics.counter("iotrace_kernel_page_faults_total",
                  "Page faults as the kernel accounts them; not comparable across kernels.");
  metrics.sample(faults.minor, {{"kind", "minor"}});
  metrics.sample(faults.major, {{"kind", "major"}});
  metrics.counter("iotrace_page_fault_locks_total", "Page faults on files by the lock that they held.");
  metrics.sample(faults.under_vma_lock, {{"lock", "vma"}});
  metrics.sample(faults.under_mmap_lock, {{"lock", "mmap"}});
  metrics.gauge("iotrace_fault_blocked_threads_max",
                "The most threads that were in page faults that wait at once, since the watch began.");
  metrics.sample(faults.blocked_threads_max);
}

void add_device_metrics(Exposition& metrics, const BlockIo& block_io) {
  metrics.histogram("iotrace_device_read_duration_seconds",
                    "Duration of requests to the device that read for the target, made to completed.");
  if (block_io.lat_ns) metrics.samples(*block_io.lat_ns, kDurations);
  metrics.histogram("iotrace_device_read_size_bytes", "Size of these requests.");
  if (block_io.request_bytes) metrics.samples(*block_io.request_bytes, kSizes);
  metrics.counter("iotrace_device_reads_unplaced_total",
                  "Of these requests, those that can't be tied to a file.");
  metrics.sample(block_io.unplaced);
}

// Of all files in the record together; the totals don't tell reads of files from those of sockets.
void add_read_metrics(Exposition& metrics, const std::vector<AttachedFile>& files) {
  std::optional<Histogram> all;
  for (const AttachedFile& file : files) {
    if (!file.reads) continue;
    if (!all) all.emplace(file.reads->lat_ns.sub_bits());
    // Other bins come from a record of another version alone: then there is no sum.
    if (!all->merge(file.reads->lat_ns)) return;
  }
  metrics.histogram("iotrace_read_duration_seconds",
                    "Duration of calls of read, pread and their kind on the files of iotrace's table.");
  if (all) metrics.samples(*all, kDurations);
}

}

void add_io_metrics(Exposition& metrics, const RunRecord& record) {
  if (record.totals && record.totals->faults) add_fault_metrics(metrics, *record.totals->faults);
  add_read_metrics(metrics, record.files);
  if (record.totals && record.totals->block_io) add_device_metrics(metrics, *record.totals->block_io);
}

}
