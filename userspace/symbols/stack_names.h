#pragma once
// Stacks of addresses to stacks of names.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/log_record.h"
#include "userspace/symbols/kernel_symbols.h"
#include "userspace/symbols/process_symbols.h"

namespace iotrace {

// Faults that waited, by the addresses of their stacks.
struct CountedStack {
  pid_t tgid = 0;
  std::string thread;
  std::vector<std::uint64_t> user, kernel;  // addresses, innermost first
  Count faults = 0;
  std::uint64_t wait_ns = 0;
};

class StackNames {
public:
  // Looks what each of the processes maps. To be called while they live, the oftener the better: code that
  // was unmapped before, or whose process has ended, keeps the names of the last look.
  void look(const std::set<pid_t>& tgids);

  // With names, most waiting first; stacks that differ in addresses alone become one. Looks first.
  std::vector<FaultStack> name(const std::vector<CountedStack>& stacks);

private:
  ProcessSymbols& process(pid_t tgid);

  std::map<pid_t, ProcessSymbols> processes_;
  std::optional<KernelSymbols> kernel_;  // once asked for
};

}
