// What does not fit is counted as lost, to the last event, and what cannot be counted is never guessed.

#include "analysis/findings/finding.h"
#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

// Each kind of advice that the kernel does not know is an entry of its own in the map of results.
constexpr int kFirstAdvice = 1000;  // beyond all that exist
constexpr int kKinds = 3001;
constexpr int kRepeated = 7;

void advise(const InTarget& here, int advice) {
  ::madvise(const_cast<std::byte*>(here.file), page_size(), advice);
}

const ProbeStatus& status_of(const ProbeReadings& readings, std::string_view probe) {
  for (const ProbeStatus& status : readings.probes)
    if (status.name == probe) return status;
  FAIL("no probe " << probe);
  return readings.probes.front();
}

ProbeReadings read_window(ProbeSet& probes, TargetProcess& target) {
  REQUIRE(probes.attach(target.target()));
  target.run();
  auto readings = probes.read();
  probes.detach();
  REQUIRE(readings);
  return std::move(*readings);
}

// A record of one row in which only these readings stand.
RunRecord record_of(const ProbeReadings& readings) {
  Row row;
  row.strategy = "mmap";
  row.case_name = "as-is";
  row.pattern = "random";
  row.syscalls = readings.syscalls;
  row.madvise = readings.madvise;
  row.probes = readings.probes;
  RunRecord record;
  record.rows.push_back(row);
  return record;
}

std::vector<Finding> losses_found(const RunRecord& record) {
  std::vector<Finding> found;
  for (const Finding& finding : judge(record))
    if (finding.id == "events-lost") found.push_back(finding);
  return found;
}

}

TEST_CASE("a full map of results: counted and lost calls are all that were made, and the finding says so") {
  ColdFile file(64);
  auto probes = load_probes(file, {"syscalls"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    for (int kind = 0; kind < kKinds; ++kind) advise(here, kFirstAdvice + kind);
    // The map is full by now: what has its entry goes on being counted.
    for (int i = 0; i < kRepeated; ++i) advise(here, kFirstAdvice);
  });
  ProbeReadings readings = read_window(*probes, target);

  Count counted = 0;
  for (const MadviseCount& entry : *readings.madvise) {
    CHECK(entry.error == "EINVAL");
    CHECK(entry.calls == (entry.advice == "advice 1000" ? 1u + kRepeated : 1u));
    counted += entry.calls;
  }
  CHECK(readings.madvise->size() == RESULT_KINDS);
  const ProbeStatus& status = status_of(readings, "syscalls");
  CHECK(status.lost == kKinds - RESULT_KINDS);
  CHECK(counted + status.lost == kKinds + kRepeated);
  CHECK(calls(readings, "madvise", "EINVAL") == counted);
  CHECK(status.unmatched == 0);
  // The latency has a place for all of them.
  CHECK(readings.syscalls->front().lat_ns->count() == kKinds + kRepeated);

  const auto found = losses_found(record_of(readings));
  REQUIRE(found.size() == 1);
  CHECK(found.front().severity == "fail");
  CHECK(found.front().numbers.at("lost") == static_cast<double>(status.lost));
  CHECK(found.front().numbers.at("counted") == static_cast<double>(counted));

  // The next window has the map to itself.
  CHECK(losses_found(record_of(read_window(*probes, target))).size() == 1);
  TargetProcess modest(file, probes->gate_fd(), [](const InTarget& here) {
    for (int kind = 0; kind < RESULT_KINDS; ++kind) advise(here, kFirstAdvice + kind);
  });
  ProbeReadings none_lost = observe(*probes, modest);
  CHECK(none_lost.madvise->size() == RESULT_KINDS);
  CHECK(losses_found(record_of(none_lost)).empty());
}
