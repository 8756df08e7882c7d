#pragma once
// Names of the functions at addresses of another process: of the programs and libraries that it maps, and of
// code that it made itself, where it wrote /tmp/perf-PID.map about it (as a JVM does at `jcmd PID
// Compiler.perfmap`). Its files are read as it sees them, whatever its root and its name spaces.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/symbols/elf_symbols.h"

namespace iotrace {

// A line of /proc/PID/maps.
struct MappedPart {
  std::uint64_t start = 0, end = 0;  // [start, end)
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;  // 0: no file
  std::string path;         // "/usr/lib/libc.so.6", "[vdso]", ""
};
std::vector<MappedPart> parse_maps(std::string_view lines);

// Functions by the address where they begin: lines "START SIZE NAME", hexadecimal.
struct JitFunction {
  std::uint64_t bytes = 0;
  std::string name;
};
std::map<std::uint64_t, JitFunction> parse_perf_map(std::string_view lines);

class ProcessSymbols {
public:
  explicit ProcessSymbols(pid_t pid) : pid_(pid) {}

  // Reads what it maps now; of a process that has ended the last look holds. A look takes the target's
  // mmap_lock for as long as the kernel needs to print the list.
  void look();

  // "main", "[libjvm.so+0x1234]" in a file without a symbol there, "[unknown]" outside of any.
  std::string name(std::uint64_t address);

  const MappedPart* part_at(std::uint64_t address) const;

private:
  const ElfSymbols* symbols_of(const MappedPart& part);
  std::optional<std::string> name_of_jit(std::uint64_t address);

  pid_t pid_;
  std::vector<MappedPart> parts_;                                                     // by address
  std::map<std::pair<std::uint64_t, std::string>, std::optional<ElfSymbols>> files_;  // by inode and path
  std::optional<std::map<std::uint64_t, JitFunction>> jit_;                           // once asked for
};

}
