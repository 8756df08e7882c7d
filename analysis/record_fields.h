#pragma once
// Which members of the RunRecord stand under which JSON key, in the order of design section 9: one list per
// struct, which both directions walk (record_to_json.cpp, record_from_json.cpp), so that they cannot differ.
//
// `field` is the writer or the reader:
//   field("key", member)             the record must have the key, unless the member is an optional
//   field.may_lack("key", member)    beside that contract: a record without the key keeps the default
//
// A new member gets a line here and one in record.schema.json; a test fails when the two differ.

#include "analysis/attach_fields.h"
#include "analysis/counter_fields.h"
#include "analysis/run_record.h"

namespace iotrace {

void fields(auto& field, Of<Estimate> auto& estimate) {
  field("median", estimate.median);
  field("low", estimate.low);
  field("high", estimate.high);
  field.may_lack("n", estimate.n);
}

void fields(auto& field, Of<Host> auto& host) {
  field("kernel", host.kernel);
  field("machine", host.machine);
  field("cpu", host.cpu);
  field("cpus", host.cpus);
  field("page_size_bytes", host.page_size_bytes);
  field("memory_bytes", host.memory_bytes);
  field("swap_bytes", host.swap_bytes);
  field("per_vma_locks", host.per_vma_locks);
  field("mglru", host.mglru);
  field("thp", host.thp);
  field("virtualisation", host.virtualisation);
  field("cgroup", host.cgroup);
}

void fields(auto& field, Of<FileFacts> auto& file) {
  field("path", file.path);
  field("size_bytes", file.size_bytes);
  field.may_lack("scratch", file.scratch);
  field("fs", file.fs);
  field("device", file.device);
  field("read_ahead_bytes", file.read_ahead_bytes);
  field("max_sectors_bytes", file.max_sectors_bytes);
  field("scheduler", file.scheduler);
  field("folio_orders", file.folio_orders);
}

void fields(auto& field, Of<Options> auto& options) {
  field("strategies", options.strategies);
  field("cases", options.cases);
  field("patterns", options.patterns);
  field("threads", options.threads);
  field("read_size_bytes", options.read_size_bytes);
  field("reads_per_op", options.reads_per_op);
  field("align_bytes", options.align_bytes);
  field("duration_s", options.duration_s);
  field("warmup_s", options.warmup_s);
  field("ops", options.ops);
  field("reps", options.reps);
  field("traced_reps", options.traced_reps);
  field("probes", options.probes);
  field("user", options.user);
  field("memory_bytes", options.memory_bytes);
  field.may_lack("rates", options.rates);
  field.may_lack("arrivals", options.arrivals);
  field.may_lack("compute_ns", options.compute_ns);
  field.may_lack("mmap_churn", options.mmap_churn);
  field.may_lack("write_pct", options.write_pct);
  field.may_lack("hot_size_bytes", options.hot_size_bytes);
  field.may_lack("cold_pct", options.cold_pct);
  field.may_lack("zipf_theta", options.zipf_theta);
  field.may_lack("stride_bytes", options.stride_bytes);
  field.may_lack("memory_sweep", options.memory_sweep);
  field.may_lack("ramhog", options.ramhog);
}

void fields(auto& field, Of<Repetition> auto& repetition) {
  field("ops", repetition.ops);
  field("seconds", repetition.seconds);
  field("residency_before_ratio", repetition.residency_before_ratio);
  field("residency_after_ratio", repetition.residency_after_ratio);
  field("drifted", repetition.drifted);
  field.may_lack("settled", repetition.settled);
  field.may_lack("unserved", repetition.unserved);
  field.may_lack("writes", repetition.writes);
  field.may_lack("churn_done", repetition.churn_done);
}

void fields(auto& field, Of<Measurement> auto& measurement) {
  field("reps", measurement.reps);
  field("ops_per_ms", measurement.ops_per_ms);
  field("bw_bytes", measurement.bw_bytes);
  field("lat_ns", measurement.lat_ns);
}

void fields(auto& field, Of<ProbeStatus> auto& probe) {
  field("name", probe.name);
  field("variant", probe.variant);
  field("reason", probe.reason);
  field("lost", probe.lost);
  field.may_lack("unmatched", probe.unmatched);
}

void fields(auto& field, Of<Cell> auto& cell) {
  field("pace", cell.pace);
  field("rate", cell.rate);
  field.may_lack("rate_pct", cell.rate_pct);
  field("arrivals", cell.arrivals);
  field("compute_ns", cell.compute_ns);
  field("align_bytes", cell.align_bytes);
  field("hot_size_bytes", cell.hot_size_bytes);
  field("cold_pct", cell.cold_pct);
  field("zipf_theta", cell.zipf_theta);
  field("stride_bytes", cell.stride_bytes);
  field("write_pct", cell.write_pct);
  field("mmap_churn", cell.mmap_churn);
  field.may_lack("memory_of_file_ratio", cell.memory_of_file_ratio);
  field("memory_limit_bytes", cell.memory_limit_bytes);
}

void fields(auto& field, Of<Expectation> auto& expectation) {
  field("hints", expectation.hints);
  field("differs_from", expectation.differs_from);
}

void fields(auto& field, Of<FioPeer> auto& fio) {
  field("engine", fio.engine);
  field("iops", fio.iops);
  field("ratio", fio.ratio);
}

void fields(auto& field, Of<CeilingPoint> auto& point) {
  field("request_bytes", point.request_bytes);
  field("queue_depth", point.queue_depth);
  field("iops", point.iops);
  field("bw_bytes", point.bw_bytes);
}

void fields(auto& field, Of<Row> auto& row) {
  field("strategy", row.strategy);
  field("case", row.case_name);
  field("pattern", row.pattern);
  field("threads", row.threads);
  field("read_size_bytes", row.read_size_bytes);
  field("reads_per_op", row.reads_per_op);
  field("control", row.control);
  field("error", row.error);
  field("drifted", row.drifted);
  field.may_lack("expects", row.expects);
  field("cell", row.cell);
  field("untraced", row.untraced);
  field("traced", row.traced);
  field("service_ns", row.service_ns);
  field("response_ns", row.response_ns);
  field("observer_cost_ratio", row.observer_cost_ratio);
  field.may_lack("dear_pass", row.dear_pass);
  field.may_lack("dear_cost_ratio", row.dear_cost_ratio);
  field("noise_floor_ratio", row.noise_floor_ratio);
  field.may_lack("counters_from", row.counters_from);
  field("requested_bytes", row.requested_bytes);
  field("device_bytes", row.device_bytes);
  field("amplification_ratio", row.amplification_ratio);
  field.may_lack("ceiling_ratio", row.ceiling_ratio);
  field.may_lack("fio", row.fio);
  field("time", row.time);
  field("rusage", row.rusage);
  field("syscalls", row.syscalls);
  field("madvise", row.madvise);
  field("hints", row.hints);
  field("faults", row.faults);
  field("page_cache", row.page_cache);
  field.may_lack("readahead", row.readahead);
  field("mmap_lock", row.mmap_lock);
  field("block_io", row.block_io);
  field("reclaim", row.reclaim);
  field("unavailable", row.unavailable);
  field("probes", row.probes);
  field.may_lack("stacks", row.stacks);
  field.may_lack("stacks_dropped", row.stacks_dropped);
  field.may_lack("events_window_s", row.events_window_s);
  field.may_lack("events", row.events);
  field.may_lack("events_dropped", row.events_dropped);
}

void fields(auto& field, Of<Finding> auto& finding) {
  field("id", finding.id);
  field("severity", finding.severity);
  field("rows", finding.rows);
  field("text", finding.text);
  field("numbers", finding.numbers);
  field("remedy", finding.remedy);
  field.may_lack("source", finding.source);
}

void fields(auto& field, Of<RunRecord> auto& record) {
  field("schema_version", record.schema_version);
  field("iotrace", record.iotrace);
  field("started", record.started);
  field("command", record.command);
  field("partial", record.partial);
  field("seed", record.seed);
  field("host", record.host);
  field("file", record.file);
  field("options", record.options);
  field("ceiling", record.ceiling);
  field.may_lack("second_pass_ratio", record.second_pass_ratio);
  field("rows", record.rows);
  field.may_lack("target", record.target);
  field.may_lack("totals", record.totals);
  field.may_lack("files", record.files);
  field.may_lack("threads", record.threads);
  field("intervals", record.intervals);
  field("findings", record.findings);
}

}
