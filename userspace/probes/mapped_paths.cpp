#include "userspace/probes/mapped_paths.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "userspace/host/text_file.h"

namespace iotrace {

namespace {

// The list has a line for each mapping, and the end of a line in a name as \012.
std::string plain_path(std::string path) {
  constexpr std::string_view kEnd = "\\012";
  for (auto at = path.find(kEnd); at != std::string::npos; at = path.find(kEnd, at + 1)) {
    path[at] = '\n';
    path.erase(at + 1, kEnd.size() - 1);
  }
  return path;
}

}

bool MappedPaths::fill_in(mapping_record& record, const Process& process) {
  const auto part = std::ranges::lower_bound(process.parts, record.start, {}, &MappedPart::start);
  if (part == process.parts.end() || part->start != record.start || part->inode != record.inode) return false;
  const std::string path = plain_path(part->path);
  if (path.size() >= PATH_ROOM) return true;  // no path, as from the kernel
  std::ranges::copy(path, record.path);
  record.path[path.size()] = 0;
  record.path_bytes = static_cast<__u32>(path.size() + 1);
  return true;
}

void MappedPaths::add(mapping_record& record) {
  if (record.start == record.end) return;  // a descriptor
  Process& process = processes_[record.tgid];
  while (!fill_in(record, process) && process.looks_left-- > 0)
    if (auto maps = read_text(fmt::format("/proc/{}/maps", record.tgid))) process.parts = parse_maps(*maps);
}

}
