#include "userspace/controller/source_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

namespace iotrace {

Status check_room_for_reads(std::uint64_t file_bytes, std::uint64_t longest_read_bytes) {
  if (file_bytes >= longest_read_bytes) return {};
  return usage_error(
      fmt::format("the file has {} bytes, shorter than one read of {}; choose a larger file or a smaller "
                  "--read-size",
                  file_bytes, longest_read_bytes));
}

Result<UserFile> open_user_file(const std::string& path, std::uint64_t longest_read_bytes) {
  // O_NONBLOCK: opening a FIFO must not hang; on a regular file it does nothing.
  UserFile file{.fd = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), .path = path};
  if (!file.fd) {
    Error error = errno_error("open " + path, errno, "--file needs a readable file");
    if (errno == ENOENT || errno == ENOTDIR) error.kind = ErrorKind::kUsage;
    return error;
  }
  struct stat info {};
  if (fstat(file.fd.get(), &info) != 0) return errno_error("stat " + path, errno);
  if (S_ISDIR(info.st_mode)) return usage_error(path + " is a directory; --file needs a regular file");
  if (!S_ISREG(info.st_mode)) return usage_error(path + " is not a regular file; --file needs one");
  if (info.st_size == 0) return usage_error(path + " is empty; there is nothing to read");
  file.size_bytes = static_cast<std::uint64_t>(info.st_size);
  file.owner_uid = info.st_uid;
  file.owner_gid = info.st_gid;
  if (Status room = check_room_for_reads(file.size_bytes, longest_read_bytes); !room)
    return usage_error(path + ": " + room.error().message);
  return file;
}

}
