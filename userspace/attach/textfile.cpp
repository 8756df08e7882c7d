#include "userspace/attach/textfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

constexpr mode_t kMode = 0644;

std::string_view remedy(int error_number) {
  switch (error_number) {
  case ENOSPC:
  case EDQUOT: return "the last text stays; make room in its folder";
  case EACCES:
  case EPERM:
  case EROFS: return "let the user that runs iotrace write to the folder";
  case ENOENT: return "make the folder anew; node_exporter's --collector.textfile.directory names it";
  default: return "the last text stays";
  }
}

Error failure(const std::string& attempt) {
  const int error_number = errno;
  return errno_error(attempt, error_number, std::string(remedy(error_number)));
}

// No fsync: after a crash of the machine the watch is over, and a disk that is busy must not hold it up.
// A file system that finds out late that it is full says so when the file is closed.
Status write_all(UniqueFd fd, std::string_view text, const std::string& path, struct stat& about) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failure("write " + path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fchmod(fd.get(), kMode) != 0) return failure("make readable " + path);
  if (::fstat(fd.get(), &about) != 0) return failure("look at " + path);
  if (::close(fd.release()) != 0) return failure("close " + path);
  return {};
}

}

Result<Textfile> Textfile::make(std::string path) {
  if (!path.ends_with(".prom") || path.ends_with("/.prom"))
    return usage_error(
        fmt::format("--textfile {}: node_exporter reads names that end in .prom alone; name one", path));
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
    return usage_error(fmt::format("--textfile {}: is no regular file; name one or a new name", path));
  Textfile file(std::move(path));
  if (::access(file.folder_.c_str(), W_OK | X_OK) != 0) {
    Error error = errno_error(fmt::format("--textfile {}: folder {}", file.path_, file.folder_), errno,
                              "name a folder that exists and that you may write to");
    error.kind = ErrorKind::kUsage;
    return error;
  }
  return file;
}

// Beside the file, for a rename stays within one file system; hidden and not .prom, for node_exporter not to
// read it.
Textfile::Textfile(std::string path) : path_(std::move(path)) {
  const std::size_t slash = path_.rfind('/');
  folder_ = slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
  beside_ = fmt::format("{}/.{}.{}.tmp", folder_, path_.substr(slash + 1), ::getpid());
}

Textfile::Textfile(Textfile&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::move(other.folder_)), beside_(std::move(other.beside_)),
      device_(other.device_), inode_(std::exchange(other.inode_, 0)) {}

Textfile::~Textfile() {
  struct stat about = {};
  if (inode_ != 0 && ::lstat(path_.c_str(), &about) == 0 && about.st_dev == device_ && about.st_ino == inode_)
    ::unlink(path_.c_str());
}

Status Textfile::write(std::string_view text) {
  // Left by a process of this number that was killed.
  ::unlink(beside_.c_str());
  UniqueFd fd(::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
  if (!fd) return failure("create " + beside_);
  struct stat about = {};
  Status written = write_all(std::move(fd), text, path_, about);
  if (written && ::rename(beside_.c_str(), path_.c_str()) != 0) written = failure("rename to " + path_);
  if (!written) {
    ::unlink(beside_.c_str());
    return written;
  }
  device_ = about.st_dev;
  inode_ = about.st_ino;
  return {};
}

}
