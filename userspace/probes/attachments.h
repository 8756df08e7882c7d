#pragma once
// Programs attached to their events, as long as this lives.

#include <vector>

#include "analysis/counters.h"
#include "userspace/probes/bpf_handles.h"
#include "userspace/probes/bpf_object.h"
#include "userspace/probes/hooks.h"

namespace iotrace {

class Attachments {
public:
  // Attaches one program; perf events are opened on every online CPU.
  // errors   what the kernel says, with the program's name
  Status attach(const BpfObject& object, const HookProgram& program);
  // All programs of a variant, or none.
  Status attach(const BpfObject& object, const Variant& variant);

  void detach() { links_.clear(); }
  bool empty() const { return links_.empty(); }

private:
  std::vector<Link> links_;
};

// Times that the kernel skipped one of the programs, since it was loaded, because it was running already on
// that CPU, for whatever process.
Count recursion_misses(const BpfObject& object, const Variant& variant);

}
