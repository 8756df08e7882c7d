#include "userspace/symbols/process_symbols.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "userspace/host/text_file.h"
#include "userspace/symbols/foreign_file.h"

namespace iotrace {

namespace {

constexpr std::size_t kMostJitBytes = 64 << 20;  // of perf-PID.map: about a million functions

// Takes the next hexadecimal number off the front, with what separates it from the rest.
// "0x" may stand before it, as in the JVM's maps.
std::optional<std::uint64_t> take_hex(std::string_view& text) {
  std::uint64_t number = 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (problem != std::errc{}) return std::nullopt;
  text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
  return number;
}

std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

template<typename Line> void for_lines(std::string_view text, Line line) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    line(one);
  }
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}

// "7f0000-7f1000 r-xp 00002000 fe:01 1234      /usr/lib/x.so"
std::vector<MappedPart> parse_maps(std::string_view lines) {
  std::vector<MappedPart> parts;
  for_lines(lines, [&](std::string_view line) {
    MappedPart part;
    const auto start = take_hex(line), end = take_hex(line);
    take_word(line);  // rights
    const auto offset = take_hex(line);
    take_word(line);  // device
    const std::string_view inode = take_word(line);
    if (!start || !end || !offset) return;
    part = {.start = *start, .end = *end, .file_offset = *offset};
    std::from_chars(inode.data(), inode.data() + inode.size(), part.inode);
    const auto path = line.find_first_not_of(' ');
    if (path != std::string_view::npos) part.path = line.substr(path);
    parts.push_back(std::move(part));
  });
  return parts;
}

std::map<std::uint64_t, JitFunction> parse_perf_map(std::string_view lines) {
  std::map<std::uint64_t, JitFunction> functions;
  for_lines(lines, [&](std::string_view line) {
    const auto start = take_hex(line), bytes = take_hex(line);
    // Code that was made again at the same place stands further down: the last one holds.
    if (start && bytes && !line.empty()) functions[*start] = {*bytes, std::string(line)};
  });
  return functions;
}

void ProcessSymbols::look() {
  auto maps = read_text(fmt::format("/proc/{}/maps", pid_));
  if (maps && !maps->empty()) parts_ = parse_maps(*maps);
}

const MappedPart* ProcessSymbols::part_at(std::uint64_t address) const {
  auto behind = std::ranges::upper_bound(parts_, address, {}, &MappedPart::start);
  if (behind == parts_.begin()) return nullptr;
  const MappedPart& part = *std::prev(behind);
  return address < part.end ? &part : nullptr;
}

std::string ProcessSymbols::name(std::uint64_t address) {
  const MappedPart* part = part_at(address);
  if (!part || part->inode == 0) {
    if (part && !part->path.empty()) return part->path;  // "[vdso]"
    return name_of_jit(address).value_or("[unknown]");
  }
  const std::uint64_t offset = address - part->start + part->file_offset;
  const ElfSymbols* symbols = symbols_of(*part);
  std::optional<std::string> found = symbols ? symbols->name(offset) : std::nullopt;
  return found ? *found : fmt::format("[{}+0x{:x}]", base_name(part->path), offset);
}

const ElfSymbols* ProcessSymbols::symbols_of(const MappedPart& part) {
  auto [file, is_new] = files_.try_emplace({part.inode, part.path});
  if (is_new) {
    const UniqueFd fd = open_mapped_file(pid_, part);
    if (fd) file->second = ElfSymbols::read(fd.get());
  }
  return file->second ? &*file->second : nullptr;
}

std::optional<std::string> ProcessSymbols::name_of_jit(std::uint64_t address) {
  if (!jit_) jit_ = parse_perf_map(read_perf_map(pid_, kMostJitBytes));
  auto behind = jit_->upper_bound(address);
  if (behind == jit_->begin()) return std::nullopt;
  const auto& [start, function] = *std::prev(behind);
  return address - start < function.bytes ? std::optional(function.name) : std::nullopt;
}

}
