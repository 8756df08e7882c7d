// Which key holds what, in which order. Both directions of the JSON walk one list of keys, so a round trip
// cannot show a member under a wrong key: only the text itself can.

#include <string>
#include <utility>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/record_json.h"
#include "tests/unit/sample_record.h"

using namespace iotrace;
using Json = nlohmann::ordered_json;

namespace {

Json full() {
  return Json::parse(to_json_text(test::full_record()));
}

std::string keys(const Json& object) {
  std::string names;
  for (const auto& [key, value] : object.items()) names += key + " ";
  return names;
}

// The members that are neither objects nor arrays.
Json plain_members(const Json& object) {
  Json plain;
  for (const auto& [key, value] : object.items())
    if (value.is_primitive()) plain[key] = value;
  return plain;
}

}

TEST_CASE("each key holds the member of its name") {
  Json record = full();
  Json row = record["rows"][0];
  row["syscalls"][0].erase("lat_ns");
  row["mmap_lock"]["read"].erase("wait_ns");
  for (const char* kind : {"mapped", "waited", "read", "other", "around_pages"}) row["faults"].erase(kind);
  row["mmap_lock"]["read"].erase("hold_ns");
  row["page_cache"].erase("evicted_age_ns");
  row["readahead"].erase("window_pages");
  for (const char* key : {"lat_ns", "request_bytes", "queue_depth"}) row["block_io"].erase(key);
  row["reclaim"].erase("stall_ns");

  auto holds = [](const Json& json, const char* text) { CHECK(json.dump() == text); };
  holds(plain_members(record),
        R"({"schema_version":1,"iotrace":"0.1.0","started":"2026-11-30T15:00:00Z","command":"run",)"
        R"("partial":false,"seed":9223372036854775807,"second_pass_ratio":1.5})");
  holds(plain_members(row),
        R"({"strategy":"mmap-random-willneed-misaligned","case":"cold","pattern":"random","threads":4,)"
        R"("read_size_bytes":16384,"reads_per_op":16,"control":true,"error":"worker killed by signal 9",)"
        R"("drifted":false,"noise_floor_ratio":0.01,"counters_from":"traced","requested_bytes":2359296,)"
        R"("device_bytes":2949120,"amplification_ratio":1.25,"ceiling_ratio":0.8,)"
        R"("events_window_s":2.5,"events_dropped":7})");
  holds(record["host"],
        R"({"kernel":"6.18.44","machine":"x86_64","cpu":"AMD EPYC","cpus":2,"page_size_bytes":4096,)"
        R"("memory_bytes":17179869184,"swap_bytes":0,"per_vma_locks":true,"mglru":"0x0007",)"
        R"("thp":"madvise","virtualisation":"kvm","cgroup":"v2"})");
  holds(record["file"], R"({"path":"/data/index.bin","size_bytes":1073741824,"scratch":true,"fs":"ext4",)"
                        R"("device":"vda1","read_ahead_bytes":131072,"max_sectors_bytes":1310720,)"
                        R"("scheduler":"none","folio_orders":{"0":7,"9":23}})");
  holds(record["options"],
        R"({"strategies":["mmap","pread"],"cases":["cold"],"patterns":["random"],"threads":[1,4],)"
        R"("read_size_bytes":[16384],"reads_per_op":16,"align_bytes":1,"duration_s":0.3,)"
        R"("warmup_s":0.1,"ops":1000,"reps":6,"traced_reps":1,"probes":"paired",)"
        R"("user":"nobody","memory_bytes":536870912,"rates":[],"arrivals":"poisson","compute_ns":[],)"
        R"("mmap_churn":[],"write_pct":[],"hot_size_bytes":null,"cold_pct":[],"zipf_theta":[],)"
        R"("stride_bytes":[],"memory_sweep":[],"ramhog":false})");
  holds(record["findings"][0],
        R"({"id":"hint-rejected","severity":"fail","rows":[0],"text":"prefetch does nothing",)"
        R"("numbers":{"calls":144.0,"share":0.98},)"
        R"("remedy":"Round the start down to the page.","source":"madvise, ERRORS"})");
  holds(
      row["cell"],
      R"({"pace":"open","rate":1000.0,"rate_pct":80.0,"arrivals":"poisson","compute_ns":5000,"align_bytes":512,)"
      R"("hot_size_bytes":16777216,"cold_pct":10.0,"zipf_theta":0.99,"stride_bytes":65536,)"
      R"("write_pct":50.0,"mmap_churn":2000.0,"memory_of_file_ratio":0.5,"memory_limit_bytes":268435456})");
  holds(
      row["untraced"]["reps"][1],
      R"({"ops":5,"seconds":0.31,"residency_before_ratio":0.0,)"
      R"("residency_after_ratio":0.5,"drifted":true,"settled":true,"unserved":null,"writes":null,"churn_done":null})");
  holds(row["untraced"]["ops_per_ms"], R"({"median":12.5,"low":12.0,"high":13.0,"n":6})");
  holds(row["rusage"], R"({"major_faults":1,"minor_faults":2,"user_s":0.5,"system_s":0.25,"ctx_voluntary":3,)"
                       R"("ctx_involuntary":4})");
  holds(row["time"],
        R"({"running_s":0.1,"fault_wait_s":0.2,"read_wait_s":0.3,"lock_wait_s":0.4,"idle_s":null})");
  holds(row["syscalls"], R"([{"name":"madvise","errno":null,"calls":3},)"
                         R"({"name":"madvise","errno":"EINVAL","calls":141,"lat_ns":null}])");
  holds(row["madvise"][0], R"({"advice":"WILLNEED","errno":"EINVAL","calls":141,"misaligned":140,)"
                           R"("requested_bytes":2310144})");
  holds(row["hints"],
        R"({"issued":144,"rejected":141,"suppressed":2,"in_time_pages":3,"late_pages":4,)"
        R"("needless_pages":5,"useless_pages":6,"truncated_pages":7,"suppressed_absent_pages":8})");
  holds(
      row["faults"],
      R"({"minor":10,"major":11,"retried":12,"mapped_pages":15,"under_vma_lock":13,"under_mmap_lock":14,)"
      R"("blocked_threads_avg":1.5,"blocked_threads_max":4,)"
      R"("longest":[{"latency_ns":70001,"offset_bytes":4096,"tid":4711,"thread":"reader-2","kind":"read"}]})");
  holds(row["page_cache"],
        R"({"added_pages":100,"by":{"fault":1,"readahead":2,"hint":3,"read":4,"other":90},)"
        R"("used_pages":60,"wasted_pages":40,"evicted_pages":20,"refault_pages":10,)"
        R"("wasted_by":{"fault":0,"readahead":1,"hint":2,"read":3,"other":34}})");
  holds(row["mmap_lock"]["read"], R"({"acquired":9,"contended":5,"slow_path":6})");
  holds(row["readahead"], R"({"sync":20,"async":21,"orders":{"0":22,"9":23},"mmap_miss_max":24})");
  holds(row["block_io"], R"({"reads":30,"read_bytes":31,"unplaced":32})");
  holds(
      row["reclaim"],
      R"({"direct_stalls":40,"cgroup_stalls":39,"reclaimed_pages":41,"tlb_shootdowns":42,"swap_in_pages":43})");
  holds(
      record["target"],
      R"({"asked":"-p 4711","processes":[{"pid":4711,"name":"java","ended":"exited"}],"seconds":10.5,)"
      R"("observer_cpu_ratio":0.01,"observer_timed_s":0.7,"notes":["a note"],"files_left_out":3,"threads_left_out":4,"expect_hints":true})");
  holds(record["threads"][0],
        R"({"pid":4711,"tid":4712,"name":"search-1","seconds":10.5,"faults":7,"fault_wait_s":1.5,)"
        R"("read_wait_s":2.5,"mmap_lock_wait_s":3.5,"futex_wait_s":4.5})");
  holds(record["intervals"][0],
        R"({"begin_s":1.5,"seconds":1.0,"faults":1,"waiting_faults":2,"added_pages":3,"evicted_pages":4,)"
        R"("refault_pages":5,"hints":6,"hints_rejected":7,"reads":8,"device_read_bytes":9,)"
        R"("fault_wait_s":0.5,"read_wait_s":0.25,"lock_wait_s":0.125})");
  holds(plain_members(record["files"][0]),
        R"({"path":"/data/_0.fdt","extension":".fdt","deleted":true,"device":"254:1","inode":12,)"
        R"("size_bytes":1048576,"mapped_bytes":524288,"resident_bytes":262144,"wasted_least_pages":5,)"
        R"("wasted_most_pages":40})");
  holds(record["files"][0]["advice"], R"([{"advice":"RANDOM","bytes":524288}])");
  holds(record["files"][0]["hint_errors"], R"({"EINVAL":141})");
  holds(record["files"][0]["order"], R"({"in_order":1,"out_of_order":2})");
  holds(row["stacks"], R"([{"thread":"reader-1","user":["main","search"],"kernel":["filemap_fault",)"
                       R"("io_schedule"],"faults":3,"wait_ns":4}])");
  holds(row["stacks_dropped"], R"({"faults":5,"wait_ns":6})");
  holds(row["events"],
        R"([{"kind":"hint","what":"madvise WILLNEED","pid":4711,"tid":4712,"thread":"reader-1",)"
        R"("file":"/data/index.bin","offset_bytes":8192,"bytes":16384,"errno":"EINVAL",)"
        R"("begin_ns":17,"duration_ns":18}])");
  CHECK(record["totals"]["events"] == row["events"]);
  CHECK(record["totals"]["events_dropped"] == 7);
  CHECK(record["totals"]["stacks"] == row["stacks"]);
  CHECK(record["totals"]["stacks_dropped"] == row["stacks_dropped"]);
  holds(row["mmap_lock"]["holders"], R"([{"thread":"reader-1","syscall":"mmap","times":2}])");
  holds(row["probes"][0],
        R"({"name":"faults","variant":"tp_btf","reason":"fentry: ENOTSUPP","lost":4,"unmatched":5})");
  for (const auto& [kind, count] : {std::pair{"mapped", 1}, {"waited", 2}, {"read", 3}, {"other", 4}})
    CHECK(record["rows"][0]["faults"][kind]["count"] == count);
}

TEST_CASE("keys stand in the order of the design") {
  Json record = full();
  CHECK(keys(record) == "schema_version iotrace started command partial seed host file options ceiling "
                        "second_pass_ratio rows target totals files threads intervals findings ");
  CHECK(keys(record["rows"][0]) ==
        "strategy case pattern threads read_size_bytes reads_per_op control error drifted expects cell "
        "untraced "
        "traced service_ns response_ns observer_cost_ratio dear_pass dear_cost_ratio noise_floor_ratio "
        "counters_from requested_bytes "
        "device_bytes amplification_ratio ceiling_ratio fio time rusage syscalls madvise hints faults "
        "page_cache readahead mmap_lock "
        "block_io reclaim unavailable probes stacks stacks_dropped events_window_s events events_dropped ");
}
