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

}
