#pragma once
// Paths of mapped files where the kernel does not let a BPF program ask for them: from /proc/PID/maps, which
// takes the process's mmap_lock to print its list but walks no page table. For one walk over the mappings.

#include <map>
#include <vector>

#include "bpf/attach_contract.h"
#include "userspace/symbols/process_symbols.h"

namespace iotrace {

class MappedPaths {
public:
  // Adds the path to the record of a mapping. None is added if the process maps another file there by now.
  void add(mapping_record& record);

private:
  struct Process {
    std::vector<MappedPart> parts;  // by address
    int looks_left = 16;            // mappings may come faster than their list can be read
  };
  static bool fill_in(mapping_record& record, const Process& process);

  std::map<__u32, Process> processes_;
};

}
