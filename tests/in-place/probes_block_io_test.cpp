// Requests to the device that read the followed file: how many, how large, how many at once, and whose.

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

#include <liburing.h>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;

off_t at_page(std::size_t page) {
  return static_cast<off_t>(page * page_size());
}

// A page of memory as direct I/O wants it.
char* aligned_page() {
  alignas(65536) static char page[65536];
  return page;
}

// One page at each 7th place, so that no request can join another.
void read_pages(int fd, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) (void)!::pread(fd, aligned_page(), page_size(), at_page(7 * i));
}

void read_no_further(const InTarget& here) {
  ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
}

UniqueFd open_direct(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  REQUIRE(fd);
  return fd;
}

BlockIo io_of(ProbeSet& probes, TargetProcess& target, ColdFile& file) {
  file.make_cold();
  return *observe(probes, target).block_io;
}

// So many requests of a page each, one after the other.
bool single_pages(const BlockIo& io, Count count) {
  return io.reads == count && io.read_bytes == count * page_size() && io.lat_ns->count() == count &&
         io.lat_ns->min() > 0 && io.request_bytes->count() == count &&
         io.request_bytes->max() == page_size() && io.queue_depth->count() == count &&
         io.queue_depth->max() == 1 && io.unplaced == 0;
}

}

TEST_CASE("23 cold pages, one by one, are 23 requests of a page, never two at once") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"block_io"});
  TargetProcess target(
      file, probes->gate_fd(), [](const InTarget& here) { read_pages(here.fd, 23); }, read_no_further);
  CHECK(exact_once_in_5([&] { return single_pages(io_of(*probes, target, file), 23); }));
}

TEST_CASE("a page that a fault brings is a request, and one that is cached is none") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"block_io"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
    for (int again = 0; again < 2; ++again)
      for (std::size_t i = 0; i < 19; ++i) here.touch(64 * i);
    ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);  // so that it can be made cold
  });
  CHECK(exact_once_in_5([&] { return single_pages(io_of(*probes, target, file), 19); }));
}

TEST_CASE("11 direct reads are 11 requests, though no page of the cache is in them") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"block_io"});
  UniqueFd direct = open_direct(file.path());
  TargetProcess target(file, probes->gate_fd(), [&](const InTarget&) { read_pages(direct.get(), 11); });
  CHECK(exact_once_in_5([&] { return single_pages(io_of(*probes, target, file), 11); }));
}

TEST_CASE("13 direct reads given to io_uring together are in flight together") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"block_io"});
  UniqueFd direct = open_direct(file.path());
  static io_uring ring;
  TargetProcess target(
      file, probes->gate_fd(),
      [&](const InTarget&) {
        for (std::size_t i = 0; i < 13; ++i)
          ::io_uring_prep_read(::io_uring_get_sqe(&ring), direct.get(), aligned_page(), 4096, at_page(7 * i));
        ::io_uring_submit_and_wait(&ring, 13);
        ::io_uring_cq_advance(&ring, 13);
      },
      [](const InTarget&) {
        if (::io_uring_queue_init(16, &ring, 0) != 0) ::_exit(1);
      });
  CHECK(exact_once_in_5([&] {
    BlockIo io = io_of(*probes, target, file);
    return io.reads == 13 && io.queue_depth->count() == 13 && io.queue_depth->max() > 1 &&
           io.queue_depth->max() <= 13;
  }));
}

TEST_CASE("what the device delivers is what enters the cache") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"block_io", "page_cache"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    ::lseek(here.fd, 0, SEEK_SET);
    while (::read(here.fd, aligned_page(), 65536) > 0) {
    }
  });
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    ProbeReadings readings = observe(*probes, target);
    const BlockIo& io = *readings.block_io;
    return io.read_bytes == *readings.page_cache->added_pages * page_size() &&
           io.read_bytes == kPages * page_size() && io.reads == io.lat_ns->count() &&
           io.reads == io.request_bytes->count() && *io.reads < kPages / 4;
  }));
}

TEST_CASE("reads of another file count nowhere, through the cache or past it") {
  ColdFile file(64), unrelated(kPages);
  auto probes = load_probes(file, {"block_io"});
  UniqueFd cached = unrelated.open(), direct = open_direct(unrelated.path());
  ::posix_fadvise(cached.get(), 0, 0, POSIX_FADV_RANDOM);
  TargetProcess target(file, probes->gate_fd(), [&](const InTarget&) {
    read_pages(cached.get(), 17);
    read_pages(direct.get(), 17);
  });
  unrelated.make_cold();
  BlockIo io = io_of(*probes, target, file);
  CHECK(unrelated.resident_pages() > 0);
  CHECK(io.reads == 0);
  CHECK(io.read_bytes == 0);
  CHECK(io.lat_ns->count() == 0);
  CHECK(io.queue_depth->count() == 0);
  CHECK(io.unplaced == 0);
}

TEST_CASE("5 direct reads of the device itself can't be tied to a file, and another process's are nobody's") {
  ColdFile file(64);
  auto probes = load_probes(file, {"block_io"});
  struct stat facts {};
  REQUIRE(::fstat(file.fd(), &facts) == 0);
  const std::string node = file.path() + "-device";
  if (::mknod(node.c_str(), S_IFBLK | 0600, facts.st_dev) != 0)
    skip("no node for the device of " + file.path());
  UniqueFd device(::open(node.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  ::unlink(node.c_str());
  if (!device || ::pread(device.get(), aligned_page(), 4096, 0) != 4096) skip("the device can't be read");

  TargetProcess target(file, probes->gate_fd(), [&](const InTarget& here) {
    read_pages(device.get(), 5);
    here.await_signal(1);
  });
  REQUIRE(probes->attach(target.target()));
  target.begin();
  target.await_open();
  read_pages(device.get(), 29);  // of this process
  target.signal(1);
  target.finish();
  auto readings = probes->read();
  REQUIRE(readings);
  CHECK(readings->block_io->unplaced == 5);
  CHECK(readings->block_io->reads == 0);
}

TEST_CASE("requests that are in flight when the window closes are forgotten by the next one") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"block_io"});
  TargetProcess target(file, probes->gate_fd(), [](const InTarget& here) {
    ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_WILLNEED);  // waits for nothing
  });
  TargetProcess modest(
      file, probes->gate_fd(), [](const InTarget& here) { read_pages(here.fd, 3); }, read_no_further);
  CHECK(exact_once_in_5([&] {
    for (int window = 0; window < 3; ++window) (void)io_of(*probes, target, file);
    return single_pages(io_of(*probes, modest, file), 3);
  }));
}
