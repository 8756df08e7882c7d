#pragma once
// The regular files of the targets by the address of their address_space, as the kernel's iterators over
// mappings and descriptors (bpf/mappings.bpf.c) list them: names, sizes, mappings and the advice in force.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attach_record.h"
#include "bpf/attach_contract.h"

namespace iotrace {

struct CataloguedFile {
  std::string path;
  bool deleted = false;
  std::uint32_t device = 0;  // as the kernel has it
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t resident_pages = 0;
  std::map<std::string, std::uint64_t> mapped_bytes;  // advice in force -> bytes
};

class FileCatalog {
public:
  // One walk over all targets, in any order. What an earlier walk said of mappings no longer holds; names
  // stay, so that a file that was closed since keeps its name.
  void walk_begins();
  void add(const mapping_record& record);

  // Null: no iterator has met it.
  const CataloguedFile* find(std::uint64_t mapping) const;
  const std::map<std::uint64_t, CataloguedFile>& files() const { return files_; }

private:
  std::map<std::uint64_t, CataloguedFile> files_;
};

// "254:1" for the kernel's number of a device.
std::string device_name(std::uint32_t device);
// ".fdt"; "" without one. Numbered copies count as what they are copies of: of "x.log.1" it is ".log".
std::string extension_of(std::string_view path);
// "RANDOM", "SEQUENTIAL", "NORMAL" of vm_flags.
std::string advice_in_force(std::uint64_t vm_flags);

}
