#include "userspace/controller/file_watch.h"

#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

namespace iotrace {

namespace {

bool same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}

Result<FileWatch> FileWatch::begin(int fd, std::string path) {
  struct stat about = {};
  if (::fstat(fd, &about) != 0) return errno_error("stat " + path, errno);
  FileWatch watch;
  watch.path_ = std::move(path);
  watch.device_ = about.st_dev;
  watch.inode_ = about.st_ino;
  watch.size_bytes_ = static_cast<std::uint64_t>(about.st_size);
  watch.written_ = about.st_mtim;
  return watch;
}

Status FileWatch::unchanged() const {
  struct stat now = {};
  if (::stat(path_.c_str(), &now) != 0) {
    if (errno == ENOENT) return Error{path_ + " was deleted or moved away while it was measured"};
    return errno_error(fmt::format("look whether {} is still the same file", path_), errno);
  }
  if (now.st_dev != device_ || now.st_ino != inode_)
    return Error{path_ + " was replaced by another file while it was measured"};
  if (const auto size = static_cast<std::uint64_t>(now.st_size); size != size_bytes_)
    return Error{fmt::format("{} {} from {} to {} bytes while it was measured", path_,
                             size < size_bytes_ ? "was cut" : "has grown", size_bytes_, size)};
  if (!same(now.st_mtim, written_)) return Error{path_ + " was written to while it was measured"};
  return {};
}

}
