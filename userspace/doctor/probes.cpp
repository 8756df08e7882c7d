// Can the probes be loaded, and by which variants? By loading them: nothing else tells.

#include <fmt/format.h>

#include "userspace/doctor/check.h"
#include "userspace/probes/probe_set.h"

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

}

Answers check_probes(const Surroundings& here) {
  // Without a file of ours any descriptor does: it is only looked up, never read.
  auto probes = ProbeSet::load({}, here.file ? here.file.get() : STDIN_FILENO);
  if (!probes)
    return {{Grade::kGap, "probes", probes.error().message,
             "run measures throughput and latency alone; nothing says why a row is slow",
             here.root ? "" : "sudo iotrace run; or iotrace run --probes off"}};
  Answers all;
  for (const ProbeStatus& probe : (*probes)->status()) all.push_back(answer(probe));
  return all;
}

}
