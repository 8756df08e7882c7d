// What is in the cache is counted to the page, for sizes that are no multiple of one.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/skip.h"
#include "userspace/controller/user.h"
#include "userspace/mapped_region.h"
#include "userspace/memory/residency.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

const std::uint64_t kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));

// A file on disk (not on tmpfs, whose pages can't be evicted) that vanishes with its descriptor.
class DiskFile {
public:
  explicit DiskFile(std::uint64_t size_bytes) {
    fd_.reset(::mkstemp(path_.data()));
    REQUIRE(fd_);
    std::vector<char> bytes(size_bytes, 'x');
    REQUIRE(::write(fd(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    if (!evict(fd()) || residency(fd())->resident_pages != 0)
      test::skip("pages of a file in /var/tmp can't be evicted");
  }
  ~DiskFile() { ::unlink(path_.c_str()); }
  DiskFile(const DiskFile&) = delete;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

private:
  std::string path_ = "/var/tmp/iotrace-residency-XXXXXX";
  UniqueFd fd_;
};

void read_page(int fd, std::uint64_t page) {
  char byte;
  REQUIRE(::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0);  // no read-ahead
  REQUIRE(::pread(fd, &byte, 1, static_cast<off_t>(page * kPage)) == 1);
}

TEST_CASE("an empty file has no pages and a residency of 0") {
  UniqueFd fd(::open("/var/tmp", O_TMPFILE | O_RDWR, 0600));
  if (!fd) test::skip("no O_TMPFILE in /var/tmp");
  REQUIRE(residency(fd.get())->file_pages == 0);
  REQUIRE(residency(fd.get())->ratio() == 0.0);
  REQUIRE(residency_by_mincore(fd.get())->file_pages == 0);
  REQUIRE(evict(fd.get()));
  REQUIRE(fill(fd.get()));
}

TEST_CASE("the last page counts when it is only partly used") {
  for (std::uint64_t size : {std::uint64_t{1}, kPage - 1, kPage, kPage + 1, 23 * kPage + 17}) {
    DiskFile file(size);
    REQUIRE(residency(file.fd())->file_pages == (size + kPage - 1) / kPage);
    REQUIRE(fill(file.fd()));
    REQUIRE(residency(file.fd())->resident_pages == (size + kPage - 1) / kPage);
    REQUIRE(residency_by_mincore(file.fd())->resident_pages == (size + kPage - 1) / kPage);
    REQUIRE(evict(file.fd()));
    REQUIRE(residency(file.fd())->resident_pages == 0);
    REQUIRE(residency_by_mincore(file.fd())->resident_pages == 0);
  }
}

TEST_CASE("exactly the pages that were read are resident, by both ways of counting") {
  DiskFile file(4096 * kPage + 1);
  for (std::uint64_t page = 0; page < 23; ++page) read_page(file.fd(), page * 97);
  REQUIRE(residency(file.fd())->resident_pages == 23);
  REQUIRE(residency_by_mincore(file.fd())->resident_pages == 23);
}

TEST_CASE("fill ignores advice given on the descriptor and leaves its position alone") {
  DiskFile file(1024 * kPage);
  REQUIRE(::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_RANDOM) == 0);
  REQUIRE(::lseek(file.fd(), 5, SEEK_SET) == 5);
  REQUIRE(fill(file.fd()));
  REQUIRE(residency(file.fd())->ratio() == 1.0);
  REQUIRE(::lseek(file.fd(), 0, SEEK_CUR) == 5);
}

TEST_CASE("evict writes dirty pages back first, and nothing of them is lost") {
  DiskFile file(64 * kPage);
  REQUIRE(::pwrite(file.fd(), "dirty", 5, static_cast<off_t>(7 * kPage)) == 5);
  REQUIRE(evict(file.fd()));
  REQUIRE(residency(file.fd())->resident_pages == 0);
  char found[5];
  REQUIRE(::pread(file.fd(), found, 5, static_cast<off_t>(7 * kPage)) == 5);
  REQUIRE(std::string(found, 5) == "dirty");
}

TEST_CASE("pages that are mapped and touched survive eviction, and residency says so") {
  DiskFile file(64 * kPage);
  auto mapping = MappedRegion::map(64 * kPage, PROT_READ, MAP_SHARED, file.fd(), "map");
  REQUIRE(mapping);
  REQUIRE(::madvise(mapping->data(), mapping->size(), MADV_RANDOM) == 0);
  volatile std::byte touched = mapping->data()[3 * kPage];
  (void)touched;
  REQUIRE(evict(file.fd()));
  REQUIRE(residency(file.fd())->resident_pages == 1);
  mapping->reset();
  REQUIRE(evict(file.fd()));
  REQUIRE(residency(file.fd())->resident_pages == 0);
}

TEST_CASE("who neither owns nor may write the file is told why there is no residency") {
  if (::geteuid() != 0) test::skip("becoming another user needs root");
  DiskFile file(23 * kPage);
  REQUIRE(::fchmod(file.fd(), 0644) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    bool refused = false;
    if (become(WorkerUser{65534, 65534, {}, "nobody"})) {
      UniqueFd own(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
      auto found = residency(own.get());
      refused = own && !found && found.error().kind == ErrorKind::kUnsupported;
    }
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

}
}
