// Can the probes be loaded, and by which variants? By loading them: nothing else tells.

#include <fmt/format.h>

#include "userspace/doctor/check.h"
#include "userspace/probes/canary.h"

namespace iotrace {

namespace {

Answer answer(const ProbeStatus& probe) {
  Answer one{.name = "probe " + probe.name};
  if (!probe.variant) {
    one.grade = Grade::kGap;
    one.found = "no variant works: " + probe.reason.value_or("no reason was given");
    one.means =
        fmt::format("the record holds null and this reason instead of what {} counts, never 0", probe.name);
    return one;
  }
  one.found = "works as " + *probe.variant;
  one.found += probe.reason ? "; not better because " + *probe.reason : ", the best of its ways";
  return one;
}

Result<ProvenProbes> unproven(Result<std::unique_ptr<ProbeSet>> loaded) {
  if (!loaded) return loaded.error();
  return ProvenProbes{.probes = std::move(*loaded)};
}

}

Answers check_probes(const Surroundings& here) {
  // Without a file of ours any descriptor does to load them: it is only looked up, never read.
  auto proven = here.file ? load_proven({}, here.file.get()) : unproven(ProbeSet::load({}, STDIN_FILENO));
  if (!proven)
    return {{Grade::kGap, "probes", proven.error().message,
             "run measures throughput and latency alone; nothing says why a row is slow",
             here.root ? "" : "sudo iotrace run; or iotrace run --probes off"}};
  Answers all;
  for (const ProbeStatus& probe : proven->probes->status()) all.push_back(answer(probe));
  for (const std::string& why : proven->unproven)
    all.push_back({Grade::kNote, "canaries", "could not be done: " + why,
                   "whether the probe counts right on this kernel is not known"});
  return all;
}

}
