#pragma once
// A file of incompressible bytes on a real file system, in a cache state that is proven, not hoped for.

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "userspace/unique_fd.h"

namespace iotrace::test {

inline std::size_t page_size() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// For exact counts of pages that must stay in the cache meanwhile. The kernel may take some away at any time,
// without any need of memory (DAMON's proactive reclaim does), so an attempt that it spoilt is made again; a
// wrong count is wrong in each. Attempts are few and cheap.
template<typename Attempt> bool exact_once_in_5(Attempt attempt) {
  for (int i = 0; i < 5; ++i)
    if (attempt()) return true;
  return false;
}

class ColdFile {
public:
  explicit ColdFile(std::size_t pages) : bytes_(pages * page_size()) {
    make();
    std::mt19937_64 random(4);
    std::vector<std::uint64_t> megabyte(1 << 17);
    for (std::uint64_t& word : megabyte) word = random();
    for (std::size_t written = 0; written < bytes_;) {
      std::size_t length = std::min(bytes_ - written, megabyte.size() * 8);
      if (::write(fd_.get(), megabyte.data(), length) != static_cast<ssize_t>(length))
        throw std::runtime_error("write " + path_);
      written += length;
    }
    make_cold();
  }
  // All hole, for a file larger than the machine.
  static ColdFile sparse(std::size_t pages) { return ColdFile(Sparse{pages}); }
  ~ColdFile() { ::unlink(path_.c_str()); }
  ColdFile(const ColdFile&) = delete;
  ColdFile& operator=(const ColdFile&) = delete;

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  std::size_t bytes() const { return bytes_; }

  // A descriptor of its own, with its own readahead state.
  UniqueFd open() const { return UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)); }

  // Whose folios are large on each kernel that we know.
  bool is_on_xfs() const {
    struct statfs of {};
    return ::fstatfs(fd_.get(), &of) == 0 && of.f_type == XFS_SUPER_MAGIC;
  }

  // Leaves no page in the cache, or throws.
  void make_cold() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      ::fdatasync(fd_.get());
      ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
      if (resident_pages() == 0) return;
      ::usleep(10'000);  // I/O in flight
    }
    throw std::runtime_error("could not make cold: " + std::to_string(resident_pages()) + " pages stay");
  }

  // Reads pages one by one, so that each is a folio of its own, until all are there, or throws. Another
  // process's need of memory may take some away again.
  void fill_page_by_page() {
    UniqueFd reader = open();
    ::posix_fadvise(reader.get(), 0, 0, POSIX_FADV_RANDOM);
    std::vector<char> page(page_size());
    for (int attempt = 0; attempt < 10; ++attempt) {
      for (std::size_t at = 0; at < bytes_; at += page.size())
        if (::pread(reader.get(), page.data(), page.size(), static_cast<off_t>(at)) < 0)
          throw std::runtime_error("read " + path_);
      if (resident_pages() * page.size() == bytes_) return;
    }
    throw std::runtime_error("could not make resident: " + std::to_string(resident_pages()) +
                             " pages are there");
  }

  // Pages in the cache whose I/O is done, by mincore(2).
  std::size_t resident_pages() const {
    void* at = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (at == MAP_FAILED) throw std::runtime_error("map " + path_);
    std::vector<unsigned char> in_core(bytes_ / page_size());
    int failed = ::mincore(at, bytes_, in_core.data());
    ::munmap(at, bytes_);
    if (failed) throw std::runtime_error("mincore of " + path_);
    std::size_t resident = 0;
    for (unsigned char page : in_core) resident += page & 1;
    return resident;
  }

  // The same, once readahead in flight has arrived: waits until `expected` are there, 5 s at most.
  std::size_t settled_pages(std::size_t expected) const {
    for (int attempt = 0; attempt < 500 && resident_pages() < expected; ++attempt) ::usleep(10'000);
    return resident_pages();
  }

private:
  struct Sparse {
    std::size_t pages;
  };
  explicit ColdFile(Sparse sparse) : bytes_(sparse.pages * page_size()) {
    make();
    if (::ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0)
      throw std::runtime_error("lengthen " + path_);
  }

  void make() {
    std::string name = (std::filesystem::temp_directory_path() / "iotrace-test-XXXXXX").string();
    fd_.reset(mkostemp(name.data(), O_CLOEXEC));
    path_ = name;
    if (!fd_) throw std::runtime_error("make a file in " + name);
  }

  std::string path_;
  UniqueFd fd_;
  std::size_t bytes_;
};

}
