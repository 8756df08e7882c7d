// Attach's probes: each file's and each thread's own numbers, and nobody else's.

#include <sys/mman.h>

#include <fstream>
#include <numeric>

#include <catch2/catch.hpp>

#include "tests/in-place/cold_file.h"
#include "tests/in-place/target_process.h"
#include "tests/in-place/watch_fixture.h"
#include "userspace/attach/attached_file.h"
#include "userspace/probes/kernel_btf.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;

// Pages, one here and one there, each once: `step` is prime, and no divisor of kPages.
auto touch(std::size_t pages, std::size_t step = 7) {
  return [=](const InTarget& here) {
    for (std::size_t i = 0; i < pages; ++i) here.touch(i * step % kPages);
  };
}

void random_access(const InTarget& here) {
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
}

Count sum(const auto& by_source) {
  return std::accumulate(std::begin(by_source), std::end(by_source), Count{0});
}

}

TEST_CASE("attach counts the faults of its target on each file, and no other process's") {
  auto watch = load_watch();
  ColdFile file(kPages), others(kPages);
  TargetProcess target(file, idle_gate(), touch(1009), random_access);
  TargetProcess other(others, idle_gate(), touch(499), random_access);

  REQUIRE(watch->begin({target.target().tgid}, true));
  other.run();
  target.run();
  watch->stop_counting();
  auto files = watch->files();
  REQUIRE(files);
  CHECK(find(*files, others) == nullptr);
  const WatchedFile* seen = find(*files, file);
  REQUIRE(seen);
  const AttachedFile described = attached_file(*seen, nullptr, page_size());
  CHECK(described.faults->read->count + described.faults->waited->count == 1009);
  CHECK(*described.page_cache->by.fault == 1009);
  CHECK(*described.page_cache->used_pages == 1009);
  CHECK(*described.wasted_least_pages == 0);
  CHECK(described.block_io->reads == 1009);
  CHECK(described.order->in_order + described.order->out_of_order == 1008);
  CHECK(sum(seen->counted.wasted) == 0);

  auto threads = watch->threads();
  REQUIRE(threads);
  REQUIRE(threads->size() == 1);
  const AttachedThread thread = attached_thread(threads->front(), ~0ull);
  CHECK(thread.tid == static_cast<std::uint32_t>(target.target().tgid));
  CHECK(thread.name == "in_place_tests");
  CHECK(thread.faults == 1009);
  CHECK(*thread.fault_wait_s > 0);
  watch->end();
}

TEST_CASE("attach tells no waits that no probe counts") {
  auto watch = load_watch({"syscalls"});
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    std::vector<char> page(page_size());
    for (std::size_t i = 0; i < 211; ++i) {
      here.touch(i * 7);
      (void)!::pread(here.fd, page.data(), page.size(), static_cast<off_t>(i * 11 * page.size()));
    }
  });
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  watch->stop_counting();
  auto readings = watch->totals();
  auto threads = watch->threads();
  REQUIRE(readings);
  REQUIRE(threads);
  REQUIRE(threads->size() == 1);
  Totals totals;
  totals.syscalls = readings->syscalls;
  AttachedThread thread = attached_thread(threads->front(), ~0ull);
  leave_out_uncounted(thread, totals);
  CHECK(*thread.read_wait_s > 0);
  CHECK(thread.futex_wait_s == 0.0);
  CHECK(!thread.faults);
  CHECK(!thread.fault_wait_s);
  CHECK(!thread.mmap_lock_wait_s);
  watch->end();
}

TEST_CASE("attach counts mmap_lock where its events are cheap, elsewhere only when it is named") {
  auto acquired = [](const std::vector<std::string>& probes) {
    auto watch = load_watch(probes);
    ColdFile file(kPages);
    TargetProcess target(file, idle_gate(), random_access);
    REQUIRE(watch->begin({target.target().tgid}, true));
    target.run();
    watch->stop_counting();
    auto readings = watch->totals();
    REQUIRE(readings);
    watch->end();
    return std::move(*readings);
  };
  auto kernel = KernelBtf::load();
  REQUIRE(kernel);
  auto arguments = kernel->arguments_of_tracepoint("mmap_lock_acquire_returned");
  if (!arguments) skip("no tracepoint of mmap_lock");
  const ProbeReadings all = acquired({}), named = acquired({"mmap_lock"});
  REQUIRE(named.mmap_lock);
  CHECK(named.mmap_lock->write->acquired >= 1);
  if (arguments->size() == 3) {
    REQUIRE(all.mmap_lock);
    CHECK(all.mmap_lock->write->acquired >= 1);
    CHECK(all.faults->under_mmap_lock);
    return;
  }
  CHECK(!all.mmap_lock);
  CHECK(!all.time->lock_wait_s);
  CHECK(!all.faults->under_mmap_lock);
  CHECK_THAT(all.unavailable.at("mmap_lock"), Catch::Matchers::Contains("left out"));
}

TEST_CASE("attach sees pages that leave and come back") {
  auto watch = load_watch();
  ColdFile file(kPages);
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    std::vector<char> page(page_size());
    ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < 13; ++i)
        (void)!::pread(here.fd, page.data(), page.size(), static_cast<off_t>(i * 7 * page.size()));
      if (pass == 0) ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED);
    }
  });
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  watch->stop_counting();
  auto files = watch->files();
  REQUIRE(files);
  const WatchedFile* seen = find(*files, file);
  REQUIRE(seen);
  CHECK(sum(seen->counted.added) == 26);
  CHECK(seen->counted.removed == 13);
  CHECK(seen->counted.refaults == 13);
  CHECK(sum(seen->counted.used) == 13);
  CHECK(sum(seen->touched) == 13);
  watch->end();
}

TEST_CASE("attach sees mapped pages that are let go of and come back by faults") {
  auto watch = load_watch();
  ColdFile file(kPages);
  TargetProcess target(
      file, idle_gate(),
      [](const InTarget& here) {
        touch(11)(here);
        ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_DONTNEED);
        ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_DONTNEED);
        touch(11)(here);
      },
      random_access);
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  watch->stop_counting();
  auto files = watch->files();
  REQUIRE(files);
  const WatchedFile* seen = find(*files, file);
  REQUIRE(seen);
  CHECK(seen->counted.refaults == 11);
  CHECK(seen->counted.used[PAGE_BY_FAULT] == 11);
  CHECK(attached_file(*seen, nullptr, page_size()).faults->read->count == 22);
  watch->end();
}

TEST_CASE("attach counts read calls by file, in order and out of it") {
  auto watch = load_watch();
  ColdFile file(kPages);
  file.fill_page_by_page();
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    std::vector<char> page(page_size());
    for (std::size_t i = 0; i < 97; ++i)
      (void)!::pread(here.fd, page.data(), page.size(), static_cast<off_t>(i * page.size()));
    for (std::size_t i = 0; i < 11; ++i)
      (void)!::pread(here.fd, page.data(), page.size(),
                     static_cast<off_t>((i * 997 + 500) % kPages * page.size()));
  });
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  watch->stop_counting();
  auto files = watch->files();
  REQUIRE(files);
  const WatchedFile* seen = find(*files, file);
  REQUIRE(seen);
  const AttachedFile described = attached_file(*seen, nullptr, page_size());
  CHECK(described.reads->calls == 108);
  CHECK(described.reads->bytes == 108 * page_size());
  CHECK(described.order->in_order == 96);
  CHECK(described.order->out_of_order == 11);
  CHECK(described.faults->read->count == 0);
  watch->end();
}

TEST_CASE("attach follows the children of its target if told to, and forgets each that ends") {
  for (bool follow : {true, false}) {
    ColdFile file(kPages);
    TargetProcess target(
        file, idle_gate(),
        [](const InTarget& here) {
          // The last one stays until it is told to go.
          for (std::size_t i = 0; i < 23; ++i) {
            const pid_t child = ::fork();
            if (child == 0) {
              here.touch(i * 7);
              if (i == 22) here.await_signal(1);
              ::_exit(0);
            }
            if (i < 22) ::waitpid(child, nullptr, 0);
          }
          ::wait(nullptr);
        },
        random_access);
    // After the target, which would inherit what keeps the programs attached.
    auto watch = load_watch();
    REQUIRE(watch->begin({target.target().tgid}, follow));
    target.begin();
    auto reads = [&] {
      auto files = watch->files();
      REQUIRE(files);
      const WatchedFile* seen = find(*files, file);
      return seen ? attached_file(*seen, nullptr, page_size()).faults->read->count : 0;
    };
    INFO("follow " << follow);
    if (follow) {
      for (int wait = 0; wait < 5000 && reads() < 23; ++wait) ::usleep(1000);
      CHECK(watch->children().size() == 1);
    }
    target.signal(1);
    target.finish();
    CHECK(reads() == (follow ? 23 : 0));
    CHECK(watch->children().empty());
    watch->end();
  }
}

TEST_CASE("attach does not take a process for a target because it has the number of one that ended") {
  auto watch = load_watch();
  ColdFile file(kPages), others(kPages);
  pid_t number = 0;
  {
    TargetProcess target(file, idle_gate(), touch(13), random_access);
    number = target.target().tgid;
    REQUIRE(watch->begin({number}, true));
    target.run();
  }
  // The next process gets that very number.
  if (std::ofstream last("/proc/sys/kernel/ns_last_pid"); !(last << number - 1) || !last.flush())
    skip("the next process's number can't be chosen here");
  TargetProcess other(others, idle_gate(), touch(17), random_access);
  if (other.target().tgid != number) skip("another process took the number first");
  other.run();
  watch->stop_counting();
  auto files = watch->files();
  REQUIRE(files);
  CHECK(find(*files, others) == nullptr);
  const WatchedFile* seen = find(*files, file);
  REQUIRE(seen);
  CHECK(attached_file(*seen, nullptr, page_size()).faults->read->count == 13);
  watch->end();
}

TEST_CASE("attach lists what its target maps, with the advice in force, and what it has open") {
  auto watch = load_watch();
  ColdFile file(kPages), opened(kPages), others(kPages);
  UniqueFd named = opened.open();  // inherited, not mapped
  TargetProcess target(file, idle_gate(), touch(1), random_access);
  UniqueFd not_inherited = others.open();
  REQUIRE(watch->begin({target.target().tgid}, true));
  auto listed = [&](const ColdFile& one) -> CataloguedFile {
    FileCatalog catalog;
    Status walked = watch->walk(catalog);
    INFO((walked ? std::string() : walked.error().message));
    REQUIRE(walked);
    for (const auto& [mapping, known] : catalog.files())
      if (known.inode == inode_of(one)) return known;
    FAIL("not listed");
    return {};
  };
  const CataloguedFile mapped = listed(file);
  CHECK(mapped.path.ends_with(file.path().substr(file.path().rfind('/'))));
  CHECK(mapped.size_bytes == file.bytes());
  CHECK(mapped.mapped_bytes == std::map<std::string, std::uint64_t>{{"RANDOM", file.bytes()}});
  CHECK(mapped.resident_pages == 0);
  CHECK_FALSE(mapped.deleted);
  CHECK(listed(opened).mapped_bytes.empty());
  target.run();
  CHECK(listed(file).resident_pages == 1);

  const std::string link = file.path() + "-link";
  REQUIRE(::link(file.path().c_str(), link.c_str()) == 0);
  REQUIRE(::unlink(file.path().c_str()) == 0);
  CHECK(listed(file).deleted);  // under the name by which it was opened
  CHECK(listed(file).path == mapped.path);
  ::unlink(link.c_str());
  watch->end();
}
