#pragma once
// Whether this kernel has what a variant hooks, as its programs expect it. Cheap, and spares most of the
// trying; what passes is still loaded and attached before it is believed.

#include <optional>
#include <string>

#include "userspace/probes/hooks.h"
#include "userspace/probes/kernel_btf.h"

namespace iotrace {

class HookTargets {
public:
  explicit HookTargets(const KernelBtf& kernel) : kernel_(kernel) {}

  // Why the variant can't work, "" if it may: a tracepoint or function that is not there, has another number
  // of arguments or others than the programs read ("handle_mm_fault has 3 arguments where 4 are known"); a
  // kernel that lets no program onto its functions.
  std::string mismatch(const Variant& variant);

private:
  std::string mismatch(const HookProgram& program);
  // Kernels that refuse fentry refuse it on every function: one that does nothing is tried, once.
  const std::string& refusal_of_functions(const char* function);

  const KernelBtf& kernel_;
  std::optional<std::string> refusal_of_functions_;
};

}
