// What Prometheus is given, byte for byte, and by the judgement of promtool.

#include <cstdlib>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "analysis/record_json.h"
#include "analysis/reports/exposition.h"
#include "analysis/reports/openmetrics.h"
#include "analysis/reports/report.h"
#include "tests/golden/attach_metrics_record.h"
#include "tests/golden/example_record.h"
#include "tests/skip.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

std::string rendered(const RunRecord& record) {
  for (const ReportFormat& format : report_formats())
    if (format.name == "openmetrics") return format.render(record, {});
  FAIL("no such format");
  return {};
}

RunRecord benchmark() {
  RunRecord record =
      record_of({misaligned_row(1, kOps), cold_row("pread", 4, kOps), cold_row("pread", 4, kOps),
                 cold_row("mmap", 1, kOps), cold_row("direct", 1, kOps)});
  record.rows[1].cell.rate = 500;
  record.rows[2].control = true;
  record.rows[3].drifted = true;
  record.rows[4].error = "open: EINVAL";
  record.findings = judge(record);
  return record;
}

void check_by_promtool(const std::string& text) {
  if (std::system("command -v promtool >/dev/null") != 0)
    skip("promtool is not installed (package prometheus)");
  std::string path = "/tmp/iotrace-promtool-XXXXXX";
  const int fd = ::mkstemp(path.data());
  REQUIRE(fd >= 0);
  ::close(fd);
  std::ofstream(path) << text;
  const int status = std::system(("promtool check metrics <" + path + " >&2").c_str());
  ::unlink(path.c_str());
  CHECK(status == 0);
}

// The value of the one sample that starts so; fails if there is none.
double value_of(const std::string& text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  INFO(start);
  REQUIRE(at != std::string::npos);
  const std::size_t end = text.find('\n', at + 1), space = text.rfind(' ', end);
  return std::stod(text.substr(space, end - space));
}

std::string faults_of_file(const std::string& file, const std::string& extension) {
  return "iotrace_page_faults_total{target=\"--comm java\",file=\"" + file + "\"" +
         (extension.empty() ? "" : ",extension=\"" + extension + "\"") + ",kind=\"read\"}";
}

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(IOTRACE_SOURCE_DIR) + "/" + path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The names of metrics in a text.
std::set<std::string> metric_names(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = text.find("iotrace_"); at != std::string::npos; at = text.find("iotrace_", at)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
    names.insert(text.substr(at, end - at));
    at = std::min(end, text.size());
  }
  return names;
}

std::set<std::string> emitted_names() {
  std::set<std::string> names;
  std::istringstream lines(rendered(attach_metrics_record()));
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#')) names.insert(line.substr(0, line.find_first_of("{ ")));
  return names;
}

void collect_queries(const nlohmann::json& json, std::vector<std::string>& queries) {
  if (json.is_object() && json.contains("expr")) queries.push_back(json["expr"].get<std::string>());
  if (json.is_object() && json.contains("query") && json["query"].is_string())
    queries.push_back(json["query"].get<std::string>());
  if (json.is_structured())
    for (const auto& item : json) collect_queries(item, queries);
}

}

TEST_CASE("openmetrics: a watched process, byte for byte") {
  const std::string text = rendered(attach_metrics_record());
  CHECK(text == expected_text("attach.prom", text));
}

TEST_CASE("openmetrics: the record of the fleet test is this one") {
  const std::string text = to_json_text(attach_metrics_record());
  std::string path = std::string(IOTRACE_SOURCE_DIR) + "/tests/golden/records/attach_metrics.json";
  if (std::getenv("IOTRACE_UPDATE_GOLDEN")) std::ofstream(path) << text;
  CHECK(text == text_of("tests/golden/records/attach_metrics.json"));
}

TEST_CASE("openmetrics: a benchmark, byte for byte") {
  const std::string text = rendered(benchmark());
  CHECK(text == expected_text("run.prom", text));
}

TEST_CASE("openmetrics: promtool finds nothing to say about a watched process") {
  check_by_promtool(rendered(attach_metrics_record()));
}

TEST_CASE("openmetrics: promtool finds nothing to say about a benchmark") {
  check_by_promtool(rendered(benchmark()));
}

TEST_CASE("openmetrics: what could not be had is absent, never 0") {
  RunRecord record = attach_metrics_record();
  CHECK(rendered(record).find("iotrace_file_resident_bytes{target=\"--comm java\",file=\"/index/a") ==
        std::string::npos);
  record.totals->faults = std::nullopt;
  record.totals->mmap_lock->write = std::nullopt;
  for (AttachedFile& file : record.files) file.faults = std::nullopt;
  const std::string text = rendered(record);
  CHECK(text.find("iotrace_page_fault") == std::string::npos);
  CHECK(text.find("kind=\"mmap_lock\"") == std::string::npos);
  CHECK(text.find("side=\"write\"") == std::string::npos);
  CHECK(text.find("iotrace_pages_added_total") != std::string::npos);
}

TEST_CASE("openmetrics: twenty files have series, and other is the rest of the totals") {
  const std::string text = rendered(attach_metrics_record());
  CHECK(value_of(text, faults_of_file("/index/_18.doc", ".doc")) == 3);
  CHECK(text.find("/index/_19.doc") == std::string::npos);
  // Two files of the table, and one share that only the totals have.
  CHECK(value_of(text, faults_of_file("other", "")) == 9);
}

TEST_CASE("openmetrics: no series falls when files change places") {
  WatchMetrics watch;
  RunRecord first = attach_metrics_record(), second = attach_metrics_record(2),
            third = attach_metrics_record(3);
  std::swap(second.files[0], second.files[21]);  // the busiest is now the last, beyond the twenty
  const std::string one = watch.render(first), two = watch.render(second), three = watch.render(third);
  const std::string busy = faults_of_file("/index/_0.fdt", ".fdt"),
                    last = faults_of_file("/index/_20.doc", ".doc"), other = faults_of_file("other", "");
  CHECK(value_of(one, busy) == 300);
  CHECK(two.find(busy) == std::string::npos);
  CHECK(value_of(two, last) == 3);  // not the 3 before, which `other` has
  // 9, and the steps of the busiest (300), of _19.doc (3) and of the share beside all files (3).
  CHECK(value_of(two, other) == 315);
  CHECK(value_of(three, busy) == 600);
  CHECK(value_of(three, other) == 324);
}

TEST_CASE("openmetrics: files of one path are one series") {
  RunRecord record = attach_metrics_record();
  record.files[2].path = record.files[0].path;
  record.files[2].deleted = true;
  CHECK(value_of(rendered(record), faults_of_file("/index/_0.fdt", ".fdt")) == 303);
}

TEST_CASE("openmetrics: a label holds any path") {
  CHECK(label_text("a\xff\xc3(\xed\xa0\x80\xc3\xa4") == "a\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD\xc3\xa4");
  Exposition metrics;
  metrics.gauge("x", "y");
  metrics.sample(Count{1}, {{"file", "a\\b\"c\nd"}, {"none", ""}});
  metrics.sample(std::nan(""));
  CHECK(std::move(metrics).text() == "# HELP x y\n# TYPE x gauge\nx{file=\"a\\\\b\\\"c\\nd\"} 1\n");
}

TEST_CASE("openmetrics: a duration at a bucket's bound is counted above it, a size within it") {
  Histogram values(kKernelSubBits);
  values.add(4095);
  values.add(4096);
  Exposition metrics;
  metrics.histogram("x", "y");
  metrics.samples(values, {12, 12, 1, false});
  metrics.samples(values, {12, 12, 1, true});
  CHECK(std::move(metrics).text() ==
        "# HELP x y\n# TYPE x histogram\n"
        "x_bucket{le=\"4096\"} 1\nx_bucket{le=\"+Inf\"} 2\nx_sum 8191\nx_count 2\n"
        "x_bucket{le=\"4096\"} 2\nx_bucket{le=\"+Inf\"} 2\nx_sum 8191\nx_count 2\n");
}

TEST_CASE("openmetrics: dashboard, alerts and README name metrics that there are") {
  const std::set<std::string> emitted = emitted_names();
  const std::string fleet = "userspace/attach/fleet/";
  std::vector<std::string> queries;
  collect_queries(nlohmann::json::parse(text_of(fleet + "grafana-dashboard.json")), queries);
  CHECK(queries.size() >= 10);
  queries.push_back(text_of(fleet + "iotrace.rules.yml"));
  queries.push_back(text_of(fleet + "README.md"));
  for (const std::string& query : queries)
    for (const std::string& name : metric_names(query)) {
      INFO(name);
      CHECK(emitted.contains(name));
    }
}
