// --window: each event of the target once, with its place and its thread, and nobody else's.

#include <sys/mman.h>

#include <map>

#include <catch2/catch.hpp>

#include "bpf/log_contract.h"
#include "tests/in-place/cold_file.h"
#include "tests/in-place/probes_fixture.h"
#include "tests/in-place/target_process.h"
#include "userspace/probes/watch_set.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;
constexpr std::uint64_t kMinute = 60'000'000'000;

int idle_gate() {
  static const int fd = [] {
    const int made = ::memfd_create("gate", MFD_CLOEXEC);
    return made >= 0 && ::ftruncate(made, static_cast<off_t>(page_size())) == 0 ? made : -1;
  }();
  return fd;
}

std::unique_ptr<WatchSet> load_watch(std::uint64_t window_ns) {
  if (::geteuid() != 0) skip("not root");
  auto loaded = WatchSet::load({}, {.window_ns = window_ns});
  if (!loaded && loaded.error().kind == ErrorKind::kUnsupported) skip(loaded.error().message);
  INFO((loaded ? std::string() : loaded.error().message));
  REQUIRE(loaded);
  return std::move(*loaded);
}

void random_access(const InTarget& here) {
  ::madvise(const_cast<std::byte*>(here.file), here.bytes, MADV_RANDOM);
  ::posix_fadvise(here.fd, 0, 0, POSIX_FADV_RANDOM);
}

// 17 faults that read, 5 hints of which 2 are refused, 13 reads of absent pages and 3 of a pipe.
void known_events(const InTarget& here) {
  auto* file = const_cast<std::byte*>(here.file);
  for (std::size_t i = 0; i < 17; ++i) here.touch(i * 3);
  for (std::size_t i = 0; i < 3; ++i)
    ::madvise(file + (1000 + i * 3) * page_size(), page_size(), MADV_WILLNEED);
  for (std::size_t i = 0; i < 2; ++i) ::madvise(file + 7, page_size(), MADV_WILLNEED);
  std::vector<char> page(page_size());
  for (std::size_t i = 0; i < 13; ++i)
    (void)!::pread(here.fd, page.data(), page.size(), static_cast<off_t>((2000 + i * 3) * page.size()));
  int pipe[2];
  if (::pipe(pipe) != 0) return;
  (void)!::write(pipe[1], "abc", 3);
  for (int i = 0; i < 3; ++i) (void)!::read(pipe[0], page.data(), 1);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

std::map<std::string, int> by_kind(const std::vector<LoggedEvent>& events) {
  std::map<std::string, int> counts;
  for (const LoggedEvent& event : events)
    ++counts[event.kind + " " + event.what + (event.error ? " " + *event.error : "")];
  return counts;
}

}

TEST_CASE("the window holds each fault, hint, read and device read of the target, and of nobody else") {
  auto watch = load_watch(kMinute);
  ColdFile file(kPages), others(kPages);
  TargetProcess target(file, idle_gate(), known_events, random_access);
  TargetProcess other(others, idle_gate(), known_events, random_access);
  const pid_t pid = target.target().tgid;
  REQUIRE(watch->begin({pid}, true));
  other.run();
  target.run();
  ::usleep(100'000);  // hints' I/O in flight
  watch->stop_counting();
  FileCatalog catalog;
  REQUIRE(watch->walk(catalog));
  auto log = watch->events(catalog);
  REQUIRE(log);
  REQUIRE(*log);
  CHECK((*log)->dropped == 0);

  std::vector<LoggedEvent> events;  // of the file alone: the target's program has pages of its own
  for (const LoggedEvent& event : (*log)->list) {
    CHECK(event.pid == static_cast<std::uint32_t>(pid));
    CHECK(event.tid == static_cast<std::uint32_t>(pid));
    CHECK(event.thread == "in_place_tests");
    CHECK(event.file != others.path());
    if (event.file == file.path()) events.push_back(event);
  }
  std::map<std::string, int> counts = by_kind(events);
  CHECK(counts["fault read"] + counts["fault waited"] == 17);
  CHECK(counts["fault mapped"] == 0);
  CHECK(counts["hint madvise WILLNEED"] == 3);
  CHECK(counts["hint madvise WILLNEED EINVAL"] == 2);
  CHECK(counts["read pread64"] == 13);
  CHECK(counts["read read"] == 0);
  CHECK(counts["device read"] == 17 + 3 + 13);

  std::size_t fault = 0, hint = 0, read = 0;
  std::uint64_t last = 0;
  for (const LoggedEvent& event : events) {
    CHECK(event.begin_ns >= last);
    last = event.begin_ns;
    CHECK(event.duration_ns > 0);
    CHECK(event.begin_ns + event.duration_ns < kMinute);
    if (event.kind == "fault") CHECK(event.offset_bytes == fault++ * 3 * page_size());
    if (event.kind == "read") CHECK(event.offset_bytes == (2000 + read++ * 3) * page_size());
    if (event.kind == "hint" && !event.error) CHECK(event.offset_bytes == (1000 + hint++ * 3) * page_size());
    if (event.kind == "hint" && event.error) CHECK(event.offset_bytes == 7);
    if (event.kind != "device") CHECK(event.bytes == page_size());
  }
  // Each device read belongs to what it was done for: no two begin at the same place.
  std::map<std::uint64_t, int> places;
  for (const LoggedEvent& event : events)
    if (event.kind == "device") {
      REQUIRE(event.offset_bytes);
      ++places[*event.offset_bytes];
    }
  CHECK(places.size() == 17 + 3 + 13);
  CHECK(places.count(16 * 3 * page_size()) == 1);
  CHECK(places.count((2000 + 12 * 3) * page_size()) == 1);
  watch->end();
}

TEST_CASE("the window ends when it is over, not when the watch is") {
  constexpr std::uint64_t kShort = 300'000'000;
  auto watch = load_watch(kShort);
  ColdFile file(kPages);
  TargetProcess target(
      file, idle_gate(),
      [](const InTarget& here) {
        std::vector<char> page(page_size());
        for (int i = 0; i < 5; ++i) (void)!::pread(here.fd, page.data(), page.size(), 0);
        here.await_signal(1);
        for (int i = 0; i < 7; ++i) (void)!::pread(here.fd, page.data(), page.size(), 4096);
      },
      random_access);
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.begin();
  ::usleep(kShort / 1'000 + 50'000);
  target.signal(1);
  target.finish();
  watch->stop_counting();
  FileCatalog catalog;
  REQUIRE(watch->walk(catalog));
  auto log = watch->events(catalog);
  REQUIRE(log);
  CHECK(by_kind((*log)->list)["read pread64"] == 5);
  for (const LoggedEvent& event : (*log)->list) CHECK(event.begin_ns < kShort);
  watch->end();
}

TEST_CASE("a full log keeps the first events and counts the others") {
  auto watch = load_watch(kMinute);
  ColdFile file(16);
  constexpr std::size_t kRoom = EVENT_ROOM / (sizeof(event) + 8), kMore = 1009;
  TargetProcess target(file, idle_gate(), [](const InTarget& here) {
    char byte;
    for (std::size_t i = 0; i < kRoom + kMore; ++i)
      (void)!::pread(here.fd, &byte, 1, static_cast<off_t>(i % 7));
  });
  REQUIRE(watch->begin({target.target().tgid}, true));
  target.run();
  watch->stop_counting();
  FileCatalog catalog;
  REQUIRE(watch->walk(catalog));
  auto log = watch->events(catalog);
  REQUIRE(log);
  const auto& list = (*log)->list;
  CHECK(list.size() + (*log)->dropped >= kRoom + kMore);  // and what reading the first page took
  CHECK(list.size() + (*log)->dropped <= kRoom + kMore + 20);
  CHECK(list.size() <= kRoom);
  CHECK(list.size() >= kRoom - 1);  // the ring never fills its last byte
  std::size_t read = 0;
  for (const LoggedEvent& event : list)
    if (event.kind == "read" && event.offset_bytes != read++ % 7) FAIL("a hole at " << read);
  watch->end();
}

TEST_CASE("without --window there is no log, and a run's begins anew at each attach") {
  {
    auto watch = load_watch(0);
    ColdFile file(kPages);
    TargetProcess target(file, idle_gate(), known_events, random_access);
    REQUIRE(watch->begin({target.target().tgid}, true));
    target.run();
    auto log = watch->events({});
    REQUIRE(log);
    CHECK_FALSE(*log);
    watch->end();
  }
  ColdFile file(kPages);
  auto probes = ProbeSet::load({}, file.fd(), {.window_ns = kMinute});
  REQUIRE(probes);
  TargetProcess target(file, **probes, known_events, random_access);
  for (int window = 0; window < 2; ++window) {
    REQUIRE((*probes)->attach(target.target()));
    target.run();
    auto readings = (*probes)->read();
    (*probes)->detach();
    REQUIRE(readings);
    REQUIRE(readings->events);
    std::map<std::string, int> counts = by_kind(readings->events->list);
    CHECK(counts["hint madvise WILLNEED"] == 3);
    CHECK(counts["hint madvise WILLNEED EINVAL"] == 2);
    CHECK(counts["read pread64"] == 13);
    if (window == 0) CHECK(counts["fault read"] + counts["fault waited"] == 17);
    for (const LoggedEvent& event : readings->events->list)
      if (event.kind == "hint") CHECK(event.file == file.path());
  }
}
