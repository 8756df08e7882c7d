#pragma once
// Questions to the running kernel's own types: what exists, never which version.

#include <optional>

#include "analysis/result.h"
#include "userspace/probes/bpf_handles.h"

namespace iotrace {

class KernelBtf {
public:
  // errors   unsupported: the kernel was built without its types
  static Result<KernelBtf> load();

  // The number of arguments of a tracepoint; nullopt: this kernel has none of that name.
  std::optional<int> tracepoint_arguments(const char* name) const;

  // Per-VMA locks are compiled in (CONFIG_PER_VMA_LOCK, Linux 6.4).
  bool has_per_vma_locks() const;

private:
  explicit KernelBtf(btf* types) : types_(types) {}

  Btf types_;
};

}
