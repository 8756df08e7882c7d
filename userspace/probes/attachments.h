#pragma once
// Programs attached to their events, as long as this lives.

#include <vector>

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

}
