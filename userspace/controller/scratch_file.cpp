#include "userspace/controller/scratch_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace iotrace {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
// Left free for everybody else, and for the file system's own metadata.
constexpr std::uint64_t kReserveBytes = 64 * kMiB;
constexpr std::uint64_t kBlockBytes = kMiB;
// Written back while the next bytes are made, so that the last fsync, which can't be interrupted, is short.
constexpr std::uint64_t kWritebackBytes = 32 * kMiB;
constexpr const char* kRemedy = "use a smaller --size or another folder";

// SplitMix64 (Steele, Lea, Flood 2014): a counter through a mixing function.
void fill_block(std::vector<std::uint64_t>& block, std::uint64_t& counter) {
  for (std::uint64_t& word : block) {
    std::uint64_t mixed = counter += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

// New bytes for every file: a store below that deduplicates must not know them from an earlier run.
std::uint64_t fresh_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = static_cast<std::uint64_t>(::getpid());
  return seed;
}

Status check_room(const std::string& folder, std::uint64_t size_bytes) {
  // Past this limit a write doesn't only fail, its signal kills the process.
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      size_bytes > limit.rlim_cur)
    return Error{
        fmt::format("scratch file of {} MiB in {}: the file size limit is {} MiB; ulimit -f unlimited, or {}",
                    size_bytes / kMiB, folder, limit.rlim_cur / kMiB, kRemedy)};
  struct statvfs about = {};
  if (::statvfs(folder.c_str(), &about) != 0) return errno_error("statvfs of " + folder, errno);
  if (about.f_blocks == 0) return {};  // a file system that doesn't know its size
  std::uint64_t available = std::uint64_t{about.f_bavail} * about.f_frsize;
  std::uint64_t needed = size_bytes + kReserveBytes;
  if (available >= needed) return {};
  return Error{
      fmt::format("scratch file of {} MiB in {}: {} MiB needed with a reserve of {}, {} MiB available; {}",
                  size_bytes / kMiB, folder, needed / kMiB, kReserveBytes / kMiB, available / kMiB, kRemedy)};
}

Status write_all(int fd, const char* bytes, std::uint64_t size_bytes) {
  while (size_bytes > 0) {
    ssize_t written = ::write(fd, bytes, size_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_error("write the scratch file", errno, kRemedy);
    bytes += written;
    size_bytes -= static_cast<std::uint64_t>(written);
  }
  return {};
}

}

bool unlink_if_same(const char* path, dev_t device, ino_t inode) {
  struct stat about = {};
  bool same = ::lstat(path, &about) == 0 && about.st_dev == device && about.st_ino == inode;
  return same && ::unlink(path) == 0;
}

ScratchFile::ScratchFile(FileIdentity identity, UniqueFd fd, std::uint64_t size_bytes)
    : identity_(std::move(identity)), fd_(std::move(fd)), size_bytes_(size_bytes) {}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : identity_(std::exchange(other.identity_, {})), fd_(std::move(other.fd_)),
      size_bytes_(other.size_bytes_) {}

ScratchFile::~ScratchFile() {
  if (!identity_.path.empty()) unlink_if_same(identity_.path.c_str(), identity_.device, identity_.inode);
}

Result<ScratchFile> ScratchFile::make(const ScratchRequest& request) {
  std::error_code missing;
  std::filesystem::path folder = std::filesystem::canonical(request.folder, missing);
  if (missing) return errno_error("scratch file in " + request.folder, missing.value(), "use another folder");
  if (Status room = check_room(folder, request.size_bytes); !room) return room.error();

  FileIdentity identity{folder / fmt::format("iotrace-scratch-{}", ::getpid())};
  std::string attempt = "make " + identity.path;
  // Looked for before the announcement, so that the guardian never takes another's file for ours.
  struct stat about = {};
  if (::lstat(identity.path.c_str(), &about) == 0)
    return errno_error(attempt, EEXIST, "not made by this run: remove it, or use another folder");
  if (request.announce) request.announce(identity);
  UniqueFd fd(::open(identity.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return errno_error(attempt, errno, "use another folder");
  if (::fstat(fd.get(), &about) != 0) return errno_error(attempt + " (fstat)", errno);
  identity.device = about.st_dev;
  identity.inode = about.st_ino;

  ScratchFile file(std::move(identity), std::move(fd), request.size_bytes);
  if (request.announce) request.announce(file.identity_);
  if (::fchown(file.fd(), request.uid, request.gid) != 0)
    return errno_error(fmt::format("give {} to uid {}", file.path(), request.uid), errno);
  if (Status filled = file.fill(request); !filled) return filled.error();
  return file;
}

Status ScratchFile::fill(const ScratchRequest& request) {
  std::vector<std::uint64_t> block(kBlockBytes / sizeof(std::uint64_t));
  std::uint64_t counter = fresh_seed();
  for (std::uint64_t done = 0; done < size_bytes_;) {
    fill_block(block, counter);
    std::uint64_t length = std::min(kBlockBytes, size_bytes_ - done);
    Status written = write_all(fd(), reinterpret_cast<const char*>(block.data()), length);
    if (!written) return written;
    done += length;
    if (done % kWritebackBytes == 0)
      ::sync_file_range(fd(), static_cast<off_t>(done - kWritebackBytes), static_cast<off_t>(kWritebackBytes),
                        SYNC_FILE_RANGE_WRITE);
    if (request.progress && !request.progress(done, size_bytes_))
      return Error{fmt::format("fill {}: interrupted", path())};
  }
  if (::fsync(fd()) != 0) return errno_error("fsync " + path(), errno, kRemedy);
  return {};
}

}
