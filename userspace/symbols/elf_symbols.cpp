#include "userspace/symbols/elf_symbols.h"

#include <cxxabi.h>
#include <gelf.h>

#include <cstdlib>
#include <memory>

namespace iotrace {

namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct Free {
  void operator()(char* text) const { std::free(text); }
};

std::string demangled(const std::string& name) {
  int status = 0;
  std::unique_ptr<char, Free> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? std::string(text.get()) : name;
}

// The section of this type and its header.
std::pair<Elf_Scn*, GElf_Shdr> section(Elf* elf, GElf_Word type) {
  GElf_Shdr header{};
  for (Elf_Scn* one = elf_nextscn(elf, nullptr); one; one = elf_nextscn(elf, one))
    if (gelf_getshdr(one, &header) && header.sh_type == type) return {one, header};
  return {nullptr, header};
}

}

std::optional<ElfSymbols> ElfSymbols::read(int fd) {
  if (elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  std::unique_ptr<Elf, EndElf> elf(elf_begin(fd, ELF_C_READ, nullptr));
  std::size_t headers = 0;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getphdrnum(elf.get(), &headers) != 0)
    return std::nullopt;

  ElfSymbols symbols;
  GElf_Phdr segment{};
  for (std::size_t i = 0; i < headers; ++i)
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) && segment.p_type == PT_LOAD)
      symbols.segments_.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});

  auto [table, header] = section(elf.get(), SHT_SYMTAB);
  if (!table) std::tie(table, header) = section(elf.get(), SHT_DYNSYM);
  Elf_Data* data = table ? elf_getdata(table, nullptr) : nullptr;
  if (!data || header.sh_entsize == 0) return symbols;
  GElf_Sym symbol{};
  for (int i = 0; gelf_getsym(data, i, &symbol); ++i) {
    const auto kind = GELF_ST_TYPE(symbol.st_info);
    if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
    if (name && *name) symbols.functions_.emplace(symbol.st_value, Function{symbol.st_size, name});
  }
  return symbols;
}

std::optional<std::string> ElfSymbols::name(std::uint64_t file_offset) const {
  for (const Segment& segment : segments_) {
    if (file_offset < segment.file_offset || file_offset - segment.file_offset >= segment.bytes) continue;
    const std::uint64_t address = file_offset - segment.file_offset + segment.address;
    auto behind = functions_.upper_bound(address);
    if (behind == functions_.begin()) return std::nullopt;
    const auto& [begin, function] = *std::prev(behind);
    if (function.bytes && address - begin >= function.bytes) return std::nullopt;
    return demangled(function.name);
  }
  return std::nullopt;
}

}
