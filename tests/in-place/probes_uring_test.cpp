// Hints given through io_uring: counted by their completions, and the pages that they bring are a hint's.

#include <liburing.h>

#include <algorithm>

#include "tests/in-place/probes_fixture.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 256;

io_uring ring;  // of each process that is forked

void make_ring(const InTarget&) {
  if (::io_uring_queue_init(64, &ring, 0) != 0) ::_exit(1);
}

void need_rings() {
  io_uring mine;
  if (int error = ::io_uring_queue_init(2, &mine, 0)) skip("no io_uring: " + errno_name(-error));
  ::io_uring_queue_exit(&mine);
}

void complete(unsigned operations) {
  ::io_uring_submit_and_wait(&ring, operations);
  ::io_uring_cq_advance(&ring, operations);
}

void advise(const InTarget& here, std::size_t offset, std::size_t bytes, int advice) {
  ::io_uring_prep_madvise(::io_uring_get_sqe(&ring), const_cast<std::byte*>(here.file) + offset,
                          static_cast<off_t>(bytes), advice);
}

void hints(const InTarget& here) {
  for (int i = 0; i < 7; ++i) advise(here, 0, 3 * page_size(), MADV_WILLNEED);
  for (std::size_t i = 0; i < 5; ++i) advise(here, 1 + i, 2 * page_size(), MADV_WILLNEED);
  for (int i = 0; i < 3; ++i)
    ::io_uring_prep_fadvise(::io_uring_get_sqe(&ring), here.fd, 0, static_cast<off_t>(page_size()),
                            POSIX_FADV_WILLNEED);
  complete(15);
}

const MadviseCount* entry(const ProbeReadings& readings, std::string_view advice,
                          const std::optional<std::string>& error) {
  auto found = std::ranges::find_if(*readings.madvise, [&](const MadviseCount& count) {
    return count.advice == advice && count.error == error;
  });
  return found == readings.madvise->end() ? nullptr : &*found;
}

}

TEST_CASE("7 hints and 5 misaligned ones through io_uring count by errno, another process's not at all") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls"});
  need_rings();
  SharedCount others;
  TargetProcess other(
      file, probes->gate_fd(),
      [&](const InTarget& here) {
        while (here.signal->load() == 0) {
          hints(here);
          others->fetch_add(1);
        }
      },
      make_ring);
  TargetProcess target(
      file, probes->gate_fd(),
      [&](const InTarget& here) {
        hints(here);
        std::uint64_t seen = others->load();
        while (others->load() < seen + 3) sched_yield();
      },
      make_ring);
  other.begin(false);
  other.await_open();
  ProbeReadings readings = observe(*probes, target);
  other.signal(1);
  other.finish();

  CHECK(readings.madvise->size() == 2);
  const MadviseCount* accepted = entry(readings, "WILLNEED", std::nullopt);
  REQUIRE(accepted);
  CHECK(accepted->calls == 7);
  CHECK(accepted->misaligned == 0);
  CHECK(accepted->requested_bytes == 7 * 3 * page_size());
  const MadviseCount* refused = entry(readings, "WILLNEED", "EINVAL");
  REQUIRE(refused);
  CHECK(refused->calls == 5);
  CHECK(refused->misaligned == 5);
  CHECK(refused->requested_bytes == 5 * 2 * page_size());

  CHECK(calls(readings, "io_uring madvise") == 7);
  CHECK(calls(readings, "io_uring madvise", "EINVAL") == 5);
  CHECK(calls(readings, "io_uring fadvise") == 3);
  CHECK(calls(readings, "madvise") == 0);
  CHECK(readings.hints->issued == 15);
  CHECK(readings.hints->rejected == 5);
}

TEST_CASE("hints through io_uring join those by system calls, by advice and result") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls"});
  need_rings();
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        for (int i = 0; i < 2; ++i) ::madvise(const_cast<std::byte*>(here.file), page_size(), MADV_WILLNEED);
        for (int i = 0; i < 3; ++i) advise(here, 0, page_size(), MADV_WILLNEED);
        for (int i = 0; i < 11; ++i) advise(here, 0, page_size(), MADV_RANDOM);
        complete(14);
      },
      make_ring);
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.madvise->size() == 2);
  CHECK(entry(readings, "WILLNEED", std::nullopt)->calls == 5);
  CHECK(entry(readings, "RANDOM", std::nullopt)->calls == 11);
  CHECK(readings.hints->issued == 5);  // RANDOM asks for no page
}

TEST_CASE("pages that a hint through io_uring brings are a hint's, those of a read are a read's") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"page_cache"});
  need_rings();
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        static char buffer[5 * 4096];
        ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
        advise(here, 0, 16 * page_size(), MADV_WILLNEED);
        ::io_uring_prep_fadvise(::io_uring_get_sqe(&ring), here.fd, static_cast<off_t>(32 * page_size()),
                                static_cast<off_t>(8 * page_size()), POSIX_FADV_WILLNEED);
        // read by a worker, too
        io_uring_sqe* read = ::io_uring_get_sqe(&ring);
        ::io_uring_prep_read(read, here.fd, buffer, sizeof(buffer), 64 * page_size());
        read->flags |= IOSQE_ASYNC;
        complete(3);
      },
      make_ring);
  CHECK(exact_once_in_5([&] {
    file.make_cold();
    PageCache cache = *observe(*probes, target).page_cache;
    return cache.by.hint == 24 && cache.by.read == 5 && cache.added_pages == 29;
  }));
}

TEST_CASE("operations of io_uring that do not hint are no hints") {
  ColdFile file(kPages);
  auto probes = load_probes(file, {"syscalls"});
  need_rings();
  TargetProcess target(
      file, probes->gate_fd(),
      [](const InTarget& here) {
        static char buffer[4096];
        for (int i = 0; i < 13; ++i) ::io_uring_prep_nop(::io_uring_get_sqe(&ring));
        ::io_uring_prep_read(::io_uring_get_sqe(&ring), here.fd, buffer, sizeof(buffer), 0);
        complete(14);
      },
      make_ring);
  ProbeReadings readings = observe(*probes, target);
  CHECK(readings.madvise->empty());
  CHECK(readings.hints->issued == 0);
  CHECK(calls(readings, "io_uring_enter") == 1);
}
