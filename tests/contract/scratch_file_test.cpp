// A scratch file is incompressible, its owner's alone, and gone afterwards whatever went wrong.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <zlib.h>

#include "tests/skip.h"
#include "userspace/controller/scratch_file.h"

namespace iotrace {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMiB = 1 << 20;

class Folder {
public:
  Folder() { REQUIRE(::mkdtemp(path_.data())); }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;

  const std::string& path() const { return path_; }
  bool empty() const { return fs::is_empty(path_); }
  ScratchRequest request(std::uint64_t size_bytes) const {
    return {.folder = path_, .size_bytes = size_bytes, .uid = ::geteuid(), .gid = ::getegid()};
  }

private:
  std::string path_ = "/var/tmp/iotrace-scratch-test-XXXXXX";
};

// A file system of its own, 100 MiB, whose space others can take away.
class SmallDisk {
public:
  SmallDisk() {
    if (::geteuid() != 0) test::skip("mounting a small tmpfs needs root");
    if (::mount("iotrace-test", folder.path().c_str(), "tmpfs", 0, "size=100m") != 0)
      test::skip("a tmpfs can't be mounted here");
  }
  ~SmallDisk() { ::umount2(folder.path().c_str(), MNT_DETACH); }

  Folder folder;
};

TEST_CASE("the file has the asked size, mode 0600, its owner and its name") {
  Folder folder;
  ScratchRequest request = folder.request(3 * kMiB + 17);
  if (::geteuid() == 0) request.uid = request.gid = 65534;
  auto file = ScratchFile::make(request);
  REQUIRE(file);
  REQUIRE(file->path() == fs::canonical(folder.path()) / ("iotrace-scratch-" + std::to_string(::getpid())));
  struct stat about = {};
  REQUIRE(::stat(file->path().c_str(), &about) == 0);
  REQUIRE(about.st_size == static_cast<off_t>(3 * kMiB + 17));
  REQUIRE((about.st_mode & 07777) == 0600);
  REQUIRE(about.st_uid == request.uid);
  REQUIRE(about.st_gid == request.gid);
  REQUIRE(about.st_ino == file->identity().inode);
  REQUIRE(static_cast<std::uint64_t>(about.st_blocks) * 512 >= 3 * kMiB);  // no holes
}

TEST_CASE("the bytes don't compress, and no page comes twice") {
  Folder folder;
  auto file = ScratchFile::make(folder.request(4 * kMiB));
  REQUIRE(file);
  std::string bytes(4 * kMiB, '\0');
  REQUIRE(::pread(file->fd(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::vector<unsigned char> packed(compressBound(bytes.size()));
  uLongf packed_size = packed.size();
  REQUIRE(compress(packed.data(), &packed_size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) ==
          Z_OK);
  REQUIRE(packed_size >= bytes.size());
  std::set<std::string> pages;
  for (std::size_t at = 0; at < bytes.size(); at += 4096) pages.insert(bytes.substr(at, 4096));
  REQUIRE(pages.size() == bytes.size() / 4096);
}

TEST_CASE("the file goes with the object, once, also after a move") {
  Folder folder;
  {
    auto file = ScratchFile::make(folder.request(kMiB));
    REQUIRE(file);
    ScratchFile moved = std::move(*file);
    REQUIRE(fs::exists(moved.path()));
  }
  REQUIRE(folder.empty());
}

TEST_CASE("a file that took the scratch file's place stays") {
  Folder folder;
  std::string path;
  {
    auto file = ScratchFile::make(folder.request(kMiB));
    REQUIRE(file);
    path = file->path();
    fs::rename(path, path + "-moved");
    std::ofstream(path) << "somebody else's";
  }
  REQUIRE(fs::exists(path));
}

TEST_CASE("an existing file of that name is left alone") {
  Folder folder;
  std::string path = folder.path() + "/iotrace-scratch-" + std::to_string(::getpid());
  std::ofstream(path) << "older";
  bool announced = false;
  ScratchRequest request = folder.request(kMiB);
  request.announce = [&](const FileIdentity&) { announced = true; };
  auto file = ScratchFile::make(request);
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message.find("EEXIST") != std::string::npos);
  REQUIRE_FALSE(announced);
  REQUIRE(fs::file_size(path) == 5);
}

TEST_CASE("it is announced just before and just after it is made, and progress tells every MiB") {
  Folder folder;
  std::vector<FileIdentity> told;
  std::vector<bool> existed;
  std::vector<std::uint64_t> steps;
  ScratchRequest request = folder.request(2 * kMiB + 1);
  request.announce = [&](const FileIdentity& identity) {
    told.push_back(identity);
    existed.push_back(fs::exists(identity.path));
  };
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    REQUIRE(total == 2 * kMiB + 1);
    steps.push_back(done);
    return true;
  };
  auto file = ScratchFile::make(request);
  REQUIRE(file);
  REQUIRE(existed == std::vector<bool>{false, true});
  REQUIRE(told[0].inode == 0);
  REQUIRE(told[1].inode == file->identity().inode);
  REQUIRE(told[1].device == file->identity().device);
  REQUIRE(steps == std::vector<std::uint64_t>{kMiB, 2 * kMiB, 2 * kMiB + 1});
}

TEST_CASE("stopped half-way, it is removed") {
  Folder folder;
  ScratchRequest request = folder.request(8 * kMiB);
  std::uint64_t last = 0;
  request.progress = [&](std::uint64_t done, std::uint64_t) {
    last = done;
    return done < 3 * kMiB;
  };
  auto file = ScratchFile::make(request);
  REQUIRE_FALSE(file);
  REQUIRE(last == 3 * kMiB);
  REQUIRE(file.error().message.find("interrupted") != std::string::npos);
  REQUIRE(folder.empty());
}

TEST_CASE("no room: the message has what is needed, what there is, and the remedy") {
  SmallDisk disk;
  auto file = ScratchFile::make(disk.folder.request(60 * kMiB));
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message ==
          "scratch file of 60 MiB in " + disk.folder.path() +
              ": 124 MiB needed with a reserve of 64, 100 MiB available; use a smaller "
              "--size or another folder");
  REQUIRE(disk.folder.empty());
}

TEST_CASE("space that vanishes half-way: ENOSPC, and the file is removed") {
  SmallDisk disk;
  ScratchRequest request = disk.folder.request(30 * kMiB);
  std::string hog = disk.folder.path() + "/hog";
  request.progress = [&](std::uint64_t, std::uint64_t) {
    if (!fs::exists(hog)) std::ofstream(hog) << std::string(90 * kMiB, 'x');
    return true;
  };
  auto file = ScratchFile::make(request);
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message.find("ENOSPC") != std::string::npos);
  REQUIRE(file.error().message.find("--size") != std::string::npos);
  fs::remove(hog);
  REQUIRE(disk.folder.empty());
}

TEST_CASE("a file size limit is an error, not a signal") {
  Folder folder;
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = {kMiB, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto file = ScratchFile::make(folder.request(2 * kMiB));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message.find("ulimit -f") != std::string::npos);
  REQUIRE(folder.empty());
}

TEST_CASE("a folder that isn't there is named") {
  auto file = ScratchFile::make({.folder = "/nowhere/at/all", .size_bytes = kMiB});
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message.find("/nowhere/at/all: ENOENT") != std::string::npos);
}

}
}
