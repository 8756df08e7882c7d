#include "userspace/attach/file_catalog.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace iotrace {

namespace {

// include/linux/mm.h, the same in all kernels; /proc/PID/smaps shows them as "sr" and "rr".
constexpr std::uint64_t kSequentialRead = 0x8000, kRandomRead = 0x10000;
constexpr unsigned kMinorBits = 20;  // include/linux/kdev_t.h

constexpr std::string_view kDeleted = " (deleted)";  // what the kernel puts behind the path of such a file

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
}

}

void FileCatalog::walk_begins() {
  for (auto& [mapping, file] : files_) file.mapped_bytes.clear();
}

void FileCatalog::add(const mapping_record& record) {
  CataloguedFile& file = files_[record.mapping];
  if (file.inode != record.inode || file.device != record.device) file = {};
  file.device = record.device;
  file.inode = record.inode;
  file.size_bytes = record.size_bytes;
  file.resident_pages = record.resident_pages;
  if (record.path_bytes > 1) {
    std::string_view path(record.path, std::min<std::size_t>(record.path_bytes - 1, PATH_ROOM));
    if (record.unlinked && path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
    file.path = path;
  }
  file.deleted = record.unlinked;
  if (record.end > record.start)
    file.mapped_bytes[advice_in_force(record.flags)] += record.end - record.start;
}

const CataloguedFile* FileCatalog::find(std::uint64_t mapping) const {
  auto at = files_.find(mapping);
  return at == files_.end() ? nullptr : &at->second;
}

std::string device_name(std::uint32_t device) {
  return fmt::format("{}:{}", device >> kMinorBits, device & ((1u << kMinorBits) - 1));
}

std::string extension_of(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  for (;;) {
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return {};
    const std::string_view last = path.substr(dot);
    if (!is_number(last.substr(1))) return std::string(last);
    path = path.substr(0, dot);
  }
}

std::string advice_in_force(std::uint64_t vm_flags) {
  if (vm_flags & kRandomRead) return "RANDOM";
  if (vm_flags & kSequentialRead) return "SEQUENTIAL";
  return "NORMAL";
}

}
