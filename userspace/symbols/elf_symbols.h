#pragma once
// Names of the functions in a program or library, from its ELF symbols: the full table where it was not
// stripped, else the exported ones.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace iotrace {

class ElfSymbols {
public:
  //   fd       of the file; not kept
  //   returns  nullopt: no ELF file
  static std::optional<ElfSymbols> read(int fd);

  // Of the function that holds the byte at this offset in the file, as C++ writes it. nullopt: none is known.
  std::optional<std::string> name(std::uint64_t file_offset) const;

private:
  struct Segment {
    std::uint64_t file_offset, bytes, address;
  };
  struct Function {
    std::uint64_t bytes;  // 0: not told, up to the next one
    std::string name;
  };
  std::vector<Segment> segments_;
  std::map<std::uint64_t, Function> functions_;  // by address
};

}
