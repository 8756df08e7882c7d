#include <algorithm>

#include <fmt/format.h>

#include "userspace/probes/probe.h"

namespace iotrace {

std::span<const Probe> probes() {
  static const std::vector<Probe> all = {
      syscalls_probe(),  faults_probe(),   page_cache_probe(), mmap_lock_probe(),
      readahead_probe(), block_io_probe(), reclaim_probe(),
  };
  return all;
}

std::vector<ProbeInfo> probe_list() {
  std::vector<ProbeInfo> list;
  for (const Probe& probe : probes()) list.push_back(probe.info);
  return list;
}

Result<std::vector<const Probe*>> select_probes(const std::vector<std::string>& names) {
  std::vector<const Probe*> selected;
  for (const std::string& name : names)
    if (std::ranges::none_of(probes(), [&](const Probe& probe) { return probe.info.name == name; }))
      return usage_error(fmt::format("no probe is called {}; see `iotrace list probes`", name));
  for (const Probe& probe : probes())
    if (names.empty() || std::ranges::find(names, probe.info.name) != names.end()) selected.push_back(&probe);
  return selected;
}

}
