#include "userspace/controller/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

std::string folder_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_error("write " + path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(fd) != 0 && errno != EINVAL) return errno_error("sync " + path, errno);
  return {};
}

void give_to_caller(int fd) {
  const char *uid = std::getenv("SUDO_UID"), *gid = std::getenv("SUDO_GID");
  if (geteuid() != 0 || !uid || !gid) return;
  // Left as root's if this is refused (a network file system, say): readable all the same.
  if (fchown(fd, static_cast<uid_t>(std::atoi(uid)), static_cast<gid_t>(std::atoi(gid))) != 0) return;
}

}

Status check_record_path(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return usage_error(fmt::format("-o {}: is a folder; name a file", path));
  if (access(folder_of(path).c_str(), W_OK | X_OK) != 0) {
    Error error = errno_error(fmt::format("-o {}: folder {}", path, folder_of(path)), errno,
                              "name a folder that you may write to");
    error.kind = ErrorKind::kUsage;
    return error;
  }
  return {};
}

Status write_record_file(const std::string& path, const std::string& text) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 &&
      !S_ISREG(info.st_mode)) {  // /dev/stdout, a pipe: nothing to rename over
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd) return errno_error("open " + path, errno);
    return write_all(fd.get(), text, path);
  }
  const std::string beside = fmt::format("{}.{}.tmp", path, getpid());
  // Nameless while it is written, where the file system can: a run that is killed meanwhile leaves nothing.
  UniqueFd fd(open(folder_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
  bool named = !fd;
  if (named) fd.reset(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return errno_error("create " + beside, errno);
  Status written = write_all(fd.get(), text, path);
  give_to_caller(fd.get());
  if (written && !named) {
    const std::string own_name = fmt::format("/proc/self/fd/{}", fd.get());
    named = linkat(AT_FDCWD, own_name.c_str(), AT_FDCWD, beside.c_str(), AT_SYMLINK_FOLLOW) == 0;
    if (!named) written = errno_error("name " + beside, errno);
  }
  if (written && rename(beside.c_str(), path.c_str()) != 0) written = errno_error("rename to " + path, errno);
  if (!written && named) unlink(beside.c_str());
  return written;
}

}
