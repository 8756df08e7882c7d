#pragma once
// Questions to the running kernel's own types: what exists, never which version.

#include <optional>
#include <string>
#include <vector>

#include "analysis/result.h"
#include "userspace/probes/bpf_handles.h"

namespace iotrace {

class KernelBtf {
public:
  // errors   unsupported: the kernel was built without its types
  static Result<KernelBtf> load();

  // From elsewhere; for tests.
  explicit KernelBtf(btf* types) : types_(types) {}

  // The types of the arguments of a tracepoint or function, as far as they matter to who reads them: what a
  // pointer points to ("folio *"), the size of a number ("32 bits"). nullopt: this kernel has none of that
  // name.
  std::optional<std::vector<std::string>> arguments_of_tracepoint(const char* name) const;
  std::optional<std::vector<std::string>> arguments_of_function(const char* name) const;

  std::optional<int> function_id(const char* name) const;

  // Per-VMA locks are compiled in (CONFIG_PER_VMA_LOCK, Linux 6.4).
  bool has_per_vma_locks() const;

private:
  Btf types_;
};

}
