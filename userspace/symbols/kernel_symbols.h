#pragma once
// Names of the kernel's functions, from /proc/kallsyms.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace iotrace {

class KernelSymbols {
public:
  // About 100 ms and 20 MiB. Without CAP_SYSLOG the kernel shows no addresses: then nothing has a name.
  static KernelSymbols load();
  // The lines of /proc/kallsyms.
  static KernelSymbols parse(std::string_view lines);

  // "filemap_fault"; "[unknown]".
  std::string name(std::uint64_t address) const;

private:
  std::map<std::uint64_t, std::string> names_;  // by the address where they begin
};

}
