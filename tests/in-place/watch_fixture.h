#pragma once
// What tests of attach's probes share.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/in-place/cold_file.h"
#include "tests/skip.h"
#include "userspace/probes/watch_set.h"

namespace iotrace::test {

// Skips the test where a watch can't be had.
//   names  probes, empty: all
inline std::unique_ptr<WatchSet> load_watch(const std::vector<std::string>& names = {}) {
  if (::geteuid() != 0) skip("not root");
  auto loaded = WatchSet::load(names);
  if (!loaded && loaded.error().kind == ErrorKind::kUnsupported) skip(loaded.error().message);
  INFO((loaded ? std::string() : loaded.error().message));
  REQUIRE(loaded);
  return std::move(*loaded);
}

// A page of memory that stands for a gate, which a target may open as it likes: the watch has its own.
inline int idle_gate() {
  static const int fd = [] {
    const int made = ::memfd_create("gate", MFD_CLOEXEC);
    return made >= 0 && ::ftruncate(made, static_cast<off_t>(page_size())) == 0 ? made : -1;
  }();
  return fd;
}

inline std::uint64_t inode_of(const ColdFile& file) {
  struct stat about {};
  REQUIRE(::fstat(file.fd(), &about) == 0);
  return about.st_ino;
}

// What was counted of the file; nullptr: nothing.
inline const WatchedFile* find(const std::vector<WatchedFile>& files, const ColdFile& file) {
  for (const WatchedFile& one : files)
    if (one.counted.inode == inode_of(file)) return &one;
  return nullptr;
}

}
