// As many faults per second as one thread can take, without probes and with them in turn:
//
//     fault_storm [--untraced] [--windows N] [--probes NAME]
//
// The file is cached in folios of one page, so that each fault maps its fault-around window and no more; a
// pass touches every window and drops the mappings again (MADV_DONTNEED). Prints one JSON object: the
// windows' seconds by kind, the faults that were counted, those of rusage, what the probes lost, and why some
// are not attached. --probes: that one alone. Needs root.

#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/in-place/cold_file.h"
#include "tests/in-place/target_process.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 16 << 10;  // 64 MiB
constexpr std::size_t kFaultAroundPages = 16;
constexpr int kPasses = 30;

void storm(const InTarget& here) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t page = 0; page < kPages; page += kFaultAroundPages) here.touch(page);
    ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
  }
}

double seconds_of(TargetProcess& target, WindowUsage& usage) {
  const auto start = std::chrono::steady_clock::now();
  usage = target.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template<typename T> T need(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "fault_storm: %s\n", result.error().message.c_str());
  std::exit(1);
}

}

int main(int argc, char** argv) {
  int windows = 10;
  bool traced = true;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--untraced") == 0) traced = false;
    if (std::strcmp(argv[i], "--windows") == 0 && i + 1 < argc) windows = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--probes") == 0 && i + 1 < argc) names = {argv[i + 1]};
  }
  ColdFile file(kPages);
  file.fill_page_by_page();
  auto probes = need(ProbeSet::load(names, file.fd()));
  TargetProcess target(file, probes->gate_fd(), storm);

  nlohmann::json out{{"untraced_s", nlohmann::json::array()}, {"traced_s", nlohmann::json::array()}};
  nlohmann::json not_attached = nlohmann::json::object();
  std::uint64_t counted = 0, by_rusage = 0, untraced_by_rusage = 0, lost = 0;
  WindowUsage usage;
  seconds_of(target, usage);  // page tables are made once
  for (int window = 0; window < windows; ++window) {
    out["untraced_s"].push_back(seconds_of(target, usage));
    untraced_by_rusage += usage.minor_faults + usage.major_faults;
    if (!traced) continue;
    if (Status attached = probes->attach(target.target()); !attached) {
      std::fprintf(stderr, "fault_storm: %s\n", attached.error().message.c_str());
      return 1;
    }
    out["traced_s"].push_back(seconds_of(target, usage));
    const ProbeReadings readings = need(probes->read());
    probes->detach();
    by_rusage += usage.minor_faults + usage.major_faults;
    if (const auto& faults = readings.faults)
      for (const auto* kind : {&faults->mapped, &faults->waited, &faults->read, &faults->other})
        if (*kind) counted += (*kind)->count;
    for (const ProbeStatus& status : readings.probes) {
      lost += status.lost;
      if (!status.variant) not_attached[status.name] = status.reason.value_or("");
    }
  }
  out["faults"] = counted;
  out["faults_by_rusage"] = by_rusage;
  out["untraced_faults_by_rusage"] = untraced_by_rusage;
  out["lost"] = lost;
  out["not_attached"] = not_attached;
  std::printf("%s\n", out.dump(2).c_str());
}
