#include "userspace/symbols/foreign_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <fmt/format.h>

#include "userspace/host/text_file.h"

namespace iotrace {

namespace {

// The target may have put a pipe there: opening must not wait.
constexpr int kReadRegular = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

UniqueFd if_regular(UniqueFd fd, std::uint64_t inode) {
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return inode == 0 || about.st_ino == inode ? std::move(fd) : UniqueFd();
}

// Links of `path` are taken as the process itself would.
UniqueFd open_in_root(pid_t pid, const std::string& path) {
  UniqueFd root(::open(fmt::format("/proc/{}/root", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  open_how how{};
  how.flags = kReadRegular;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

// Its number in its own PID namespace, the last of the line "NSpid:\t4711\t1".
std::string own_number(pid_t pid) {
  const std::string status = read_text(fmt::format("/proc/{}/status", pid)).value_or("");
  const auto at = status.find("\nNSpid:");
  if (at == std::string::npos) return std::to_string(pid);
  const std::string line = status.substr(at + 1, status.find('\n', at + 1) - at - 1);
  return line.substr(line.rfind('\t') + 1);
}

}

UniqueFd open_mapped_file(pid_t pid, const MappedPart& part) {
  const std::string exact = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, part.start, part.end);
  if (UniqueFd fd = if_regular(UniqueFd(::open(exact.c_str(), kReadRegular)), part.inode)) return fd;
  if (UniqueFd fd = if_regular(open_in_root(pid, part.path), part.inode)) return fd;
  return if_regular(UniqueFd(::open(part.path.c_str(), kReadRegular)), part.inode);
}

std::string read_perf_map(pid_t pid, std::size_t most_bytes) {
  const UniqueFd fd = if_regular(open_in_root(pid, fmt::format("/tmp/perf-{}.map", own_number(pid))), 0);
  std::string text;
  char part[1 << 16];
  while (fd && text.size() < most_bytes) {
    const ssize_t got = ::read(fd.get(), part, sizeof(part));
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

}
