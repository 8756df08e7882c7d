#include "userspace/host/mounts.h"

#include <optional>
#include <sstream>

#include "userspace/host/text_file.h"

namespace iotrace {
namespace {

// The kernel writes blank, tab, newline and backslash in names as \ and three octal digits.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

// "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/sda1 rw,errors=continue"; between the mount's
// options and the lone "-" stands any number of optional fields.
std::optional<Mount> parse(const std::string& line) {
  std::istringstream fields(line);
  Mount mount;
  std::string parent, device, mount_options, optional_field;
  fields >> mount.id >> parent >> device >> mount.root >> mount.point >> mount_options;
  while (fields >> optional_field && optional_field != "-") {
  }
  if (!(fields >> mount.fs >> mount.source)) return std::nullopt;
  fields >> mount.options;
  mount.root = unescape(mount.root);
  mount.point = unescape(mount.point);
  mount.source = unescape(mount.source);
  return mount;
}

}

std::vector<Mount> mounts(const std::string& proc_prefix) {
  std::vector<Mount> found;
  std::istringstream lines(read_text(proc_prefix + "/proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (auto mount = parse(line)) found.push_back(std::move(*mount));
  return found;
}

}
