#include "userspace/memory/residency.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "userspace/mapped_region.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

// Not in the headers of Debian 12. The number is the same on all architectures with the common table.
constexpr long kCachestat = 451;
struct CachestatRange {
  std::uint64_t offset, length;
};
struct Cachestat {
  std::uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

constexpr std::uint64_t kMincoreSliceBytes = 1ull << 30;
constexpr std::size_t kFillBytes = 1u << 20;
// Pages whose I/O is in flight can't be dropped. A disk read takes milliseconds; 20 x 10 ms outlasts it.
constexpr int kEvictAttempts = 20;
constexpr auto kEvictPause = std::chrono::milliseconds(10);

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t pages_of(std::uint64_t size_bytes) {
  return (size_bytes + page_size() - 1) / page_size();
}

std::string own_name(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

Result<struct stat> status_of(int fd) {
  struct stat about = {};
  if (::fstat(fd, &about) != 0) return errno_error("fstat the file", errno);
  return about;
}

// The kernel's own rule for mincore (can_do_mincore) and, in later releases, for cachestat.
bool may_ask_residency(int fd, const struct stat& about) {
  uid_t user = ::geteuid();
  return user == 0 || user == about.st_uid ||
         ::faccessat(AT_FDCWD, own_name(fd).c_str(), W_OK, AT_EACCESS) == 0;
}

// nullopt: the call is unknown to the kernel or to a seccomp filter, or the file system refuses it.
std::optional<std::uint64_t> cached_pages(int fd, std::uint64_t size_bytes) {
  // An exact range: "to the end" would also count those pages of a large folio that lie past the file's end.
  CachestatRange range = {0, size_bytes};
  Cachestat found = {};
  if (::syscall(kCachestat, fd, &range, &found, 0u) != 0) return std::nullopt;
  return found.cached;
}

}

bool has_cachestat(int fd) {
  return cached_pages(fd, page_size()).has_value();
}

Result<Residency> residency_by_mincore(int fd) {
  auto about = status_of(fd);
  if (!about) return about.error();
  auto size = static_cast<std::uint64_t>(about->st_size);
  if (size == 0) return Residency{};
  auto file = MappedRegion::map(size, PROT_READ, MAP_SHARED, fd, "map the file to measure its residency");
  if (!file) return file.error();
  Residency sum{0, pages_of(size)};
  std::vector<unsigned char> resident(pages_of(kMincoreSliceBytes));
  for (std::uint64_t at = 0; at < size; at += kMincoreSliceBytes) {
    std::uint64_t length = std::min(kMincoreSliceBytes, size - at);
    if (::mincore(file->data() + at, length, resident.data()) != 0)
      return errno_error("mincore of the file", errno);
    sum.resident_pages += static_cast<std::uint64_t>(
        std::count_if(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(pages_of(length)),
                      [](unsigned char page) { return page & 1; }));
  }
  return sum;
}

Result<Residency> residency(int fd) {
  auto about = status_of(fd);
  if (!about) return about.error();
  if (!may_ask_residency(fd, *about))
    return unsupported("measure residency: the kernel tells it to the file's owner, a writer or root alone; "
                       "run with sudo");
  auto size = static_cast<std::uint64_t>(about->st_size);
  if (size == 0) return Residency{};
  if (auto cached = cached_pages(fd, size)) return Residency{*cached, pages_of(size)};
  return residency_by_mincore(fd);
}

Status evict(int fd) {
  // Dirty pages can't be dropped. EINVAL and EROFS: nothing here is ever dirty.
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    return errno_error("fsync before eviction", errno);
  for (int attempt = 0; attempt < kEvictAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(kEvictPause);
    if (int error = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
      return errno_error("evict the file (POSIX_FADV_DONTNEED)", error);
    auto left = residency(fd);
    if (!left || left->resident_pages == 0) break;
  }
  return {};
}

Status fill(int fd) {
  // A description of its own: advice given on `fd`, and the read-ahead window that it remembers, stay out.
  UniqueFd own(::open(own_name(fd).c_str(), O_RDONLY | O_CLOEXEC));
  if (!own) return errno_error("open the file again to read it in", errno);
  std::vector<std::byte> buffer(kFillBytes);
  for (;;) {
    ssize_t got = ::read(own.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read the file in", errno);
    if (got == 0) return {};
  }
}

Status fill_front(int fd, std::uint64_t bytes) {
  UniqueFd own(::open(own_name(fd).c_str(), O_RDONLY | O_CLOEXEC));
  if (!own) return errno_error("open the file again to read its front in", errno);
  ::posix_fadvise(own.get(), 0, 0, POSIX_FADV_RANDOM);
  std::vector<std::byte> buffer(kFillBytes);
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t size = std::min<std::uint64_t>(buffer.size(), bytes - at);
    ssize_t got = ::pread(own.get(), buffer.data(), size, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read the front of the file in", errno);
    if (got == 0) return {};
    at += static_cast<std::uint64_t>(got);
  }
  return {};
}

}
