#include "userspace/symbols/kernel_symbols.h"

#include <charconv>

#include "userspace/host/text_file.h"

namespace iotrace {

KernelSymbols KernelSymbols::load() {
  return parse(read_text("/proc/kallsyms").value_or(""));
}

// "ffffffff81000000 T _stext", for a module's with "\t[ext4]" behind.
KernelSymbols KernelSymbols::parse(std::string_view lines) {
  KernelSymbols symbols;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    std::uint64_t address = 0;
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
    const auto digits = static_cast<std::size_t>(end - line.data());
    if (problem != std::errc{} || address == 0 || line.size() < digits + 4) continue;
    const char kind = line[digits + 1];
    if (kind != 't' && kind != 'T' && kind != 'w' && kind != 'W') continue;
    const std::string_view name = line.substr(digits + 3);
    symbols.names_.emplace(address, name.substr(0, name.find('\t')));
  }
  return symbols;
}

std::string KernelSymbols::name(std::uint64_t address) const {
  auto behind = names_.upper_bound(address);
  return behind == names_.begin() ? "[unknown]" : std::prev(behind)->second;
}

}
