// What fio prints with --output-format=json+, a job a row, for tools that read that: fio_jsonplus_clat2csv
// and what people have written themselves. An I/O is an op: a batch of reads_per_op reads, and `bs` is what
// such a batch reads; with --reads-per-op 1 it is one read. Throughput is the median over repetitions, as in
// the other formats; counts and run time are their sums.
//
//   source  fio 3.33, stat.c (show_thread_status_json)

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

using Json = nlohmann::ordered_json;

// fio's last bin, which all longer latencies fall into; its readers know of none beyond.
constexpr std::uint64_t kLongestBin = 17'112'760'320;

constexpr double kPercentiles[] = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                   80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};

Json latency_json(const Histogram& latency) {
  Json out = {{"min", latency.min().value_or(0)},
              {"max", latency.max().value_or(0)},
              {"mean", latency.mean().value_or(0)},
              {"stddev", latency.stddev().value_or(0)},
              {"N", latency.count()}};
  if (latency.count() == 0) return out;  // as fio leaves it
  for (double percent : kPercentiles)
    out["percentile"][fmt::format("{:.6f}", percent)] = *latency.percentile(percent / 100);
  std::map<std::uint64_t, std::uint64_t> bins;
  for (const auto& [bin, count] : latency.bins())
    bins[std::min(histogram_bin_low(bin, latency.sub_bits()), kLongestBin)] += count;
  for (const auto& [low, count] : bins) out["bins"][std::to_string(low)] = count;
  return out;
}

struct Direction {
  double iops = 0, bw_bytes = 0;
  std::uint64_t ios = 0, bytes_each = 0;
  double seconds = 0;
  Histogram latency{kOpSubBits};
};

Json direction_json(const Direction& direction) {
  const Histogram none(kOpSubBits);
  return {{"io_bytes", direction.ios * direction.bytes_each},
          {"io_kbytes", direction.ios * direction.bytes_each / 1024},
          {"bw_bytes", static_cast<std::uint64_t>(direction.bw_bytes)},
          {"bw", static_cast<std::uint64_t>(direction.bw_bytes / 1024)},
          {"iops", direction.iops},
          {"runtime", static_cast<std::uint64_t>(direction.seconds * 1000)},
          {"total_ios", direction.ios},
          {"short_ios", 0},
          {"drop_ios", 0},
          {"slat_ns", latency_json(none)},
          {"clat_ns", latency_json(direction.latency)},
          {"lat_ns", latency_json(direction.latency)}};
}

Direction reads_of(const Row& row, const Measurement& measured) {
  Direction reads{.iops = 1000 * measured.ops_per_ms.median.value_or(0),
                  .bw_bytes = measured.bw_bytes.value_or(0),
                  .bytes_each = row.read_size_bytes * row.reads_per_op,
                  .latency = measured.lat_ns};
  for (const Repetition& rep : measured.reps) {
    reads.ios += rep.ops;
    reads.seconds += rep.seconds;
  }
  return reads;
}

Json job_json(const Row& row, const Measurement* measured) {
  const std::uint64_t bytes_each = row.read_size_bytes * row.reads_per_op;
  Json job = {{"jobname",
               fmt::format("{}.{}.{}.t{}", wording::row_name(row), row.case_name, row.pattern, row.threads)},
              {"groupid", 0},
              {"error", row.error ? 1 : 0},
              {"job options",
               {{"name", row.strategy},
                {"rw", row.pattern == "sequential" ? "read" : "randread"},
                {"bs", std::to_string(bytes_each)},
                {"numjobs", std::to_string(row.threads)}}}};
  // What fio has no key for.
  job["iotrace"] = {
      {"case", row.case_name},           {"reads_per_op", row.reads_per_op},
      {"control", row.control},          {"drifted", row.drifted},
      {"write_pct", row.cell.write_pct}, {"error", row.error ? Json(*row.error) : Json(nullptr)}};
  job["read"] = direction_json(measured && !row.error ? reads_of(row, *measured) : Direction{});
  job["write"] = job["trim"] = direction_json({});
  // fio's shares of processor time are of the job's run time; of the repetitions that rusage is of.
  const double seconds = thread_seconds(row, counted_measurement(row));
  if (row.rusage && seconds > 0) {
    job["usr_cpu"] = 100 * row.rusage->user_s / seconds;
    job["sys_cpu"] = 100 * row.rusage->system_s / seconds;
    job["ctx"] = row.rusage->ctx_voluntary + row.rusage->ctx_involuntary;
    job["majf"] = row.rusage->major_faults;
    job["minf"] = row.rusage->minor_faults;
  }
  return job;
}

std::string render_fio(const RunRecord& record, const ReportOptions&) {
  Json jobs = Json::array();
  for (const Row& row : record.rows) jobs.push_back(job_json(row, throughput_measurement(row)));
  const Json out = {
      {"fio version", "iotrace-" + record.iotrace},
      {"time", record.started},
      {"global options", {{"filename", record.file.path}, {"size", std::to_string(record.file.size_bytes)}}},
      {"jobs", std::move(jobs)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}

extern const ReportFormat fio_report;
const ReportFormat fio_report{"fio", "the JSON that fio prints (json+), a job a row", render_fio, true,
                              ".fio.json"};

}
