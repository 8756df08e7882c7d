// Hints that do what they say, on a file whose cache state is proven: who hints brings pages in without
// reading, who asks first is told the truth or refuses, and the back-off withholds what it should.

#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/cli/system_call_filter.h"
#include "tests/in-place/cold_file.h"
#include "tests/skip.h"
#include "userspace/mapped_region.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {
namespace {

using test::ColdFile;
using test::page_size;

constexpr std::size_t kPages = 4096;

// A strategy on the file, as the worker holds it, with one reader.
class OneReader {
public:
  OneReader(const Strategy& strategy, const ColdFile& file, const ReadShape& shape) : fd_(file.open()) {
    source_ = {.fd = fd_.get(), .size_bytes = file.bytes(), .page_size_bytes = page_size()};
    if (strategy.maps_file) {
      auto mapping = MappedRegion::map(file.bytes(), PROT_READ, MAP_SHARED, fd_.get(), "map the test file");
      REQUIRE(mapping);
      mapping_ = std::move(*mapping);
      source_.mapping = mapping_.data();
    }
    auto prepared = strategy.prepare(source_, shape);
    if (!prepared) {
      refusal_ = prepared.error().message;
      REQUIRE(prepared.error().kind == ErrorKind::kUnsupported);
      return;
    }
    make_reader_ = *prepared;
    auto made = make_reader_();
    REQUIRE(made);
    reader_ = std::move(*made);
  }

  const std::string& refusal() const { return refusal_; }
  Reader& operator*() const { return *reader_; }
  Reader* operator->() const { return reader_.get(); }
  // Another thread's, which shares what is shared.
  std::unique_ptr<Reader> another() const { return std::move(*make_reader_()); }

private:
  UniqueFd fd_;
  MappedRegion mapping_;
  SourceFile source_;
  MakeReader make_reader_;
  std::unique_ptr<Reader> reader_;
  std::string refusal_;
};

// One read per page, 61 pages apart, each at another place in its page.
std::vector<std::uint64_t> scattered(std::size_t first, std::size_t count) {
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = first; i < first + count; ++i) offsets.push_back(i * 61 * page_size() + i);
  return offsets;
}

Status announce(Reader& reader, std::vector<std::uint64_t> offsets) {
  return reader.announce(offsets);
}

TEST_CASE("prefetch: an accepted hint brings the pages in, a refused one none") {
  const ReadShape shape = {.read_size_bytes = 100, .reads_per_op = 60};
  for (const Strategy& strategy : strategies()) {
    if (!strategy.hints) continue;
    CAPTURE(strategy.name);
    ColdFile file(kPages);
    OneReader reader(strategy, file, shape);
    if (!reader.refusal().empty()) continue;
    const auto offsets =
        strategy.sequential_only ? std::vector<std::uint64_t>{4096, 8192, 12288} : scattered(1, 60);
    REQUIRE(reader->announce(offsets));
    if (strategy.specimen) {
      CHECK(file.resident_pages() == 0);
    } else if (strategy.sequential_only) {
      CHECK(file.settled_pages(4) >= 4);
    } else {
      CHECK(file.settled_pages(60) == 60);
    }
  }
}

TEST_CASE("prefetch: populated pages are copied without a fault") {
  ColdFile file(kPages);
  OneReader reader(*find_strategy("mmap-populate"), file, {.read_size_bytes = 100, .reads_per_op = 60});
  Sink sink;
  // Runs the code once, so that it is in memory itself.
  REQUIRE(reader->announce(scattered(0, 1)));
  REQUIRE(reader->read_batch(scattered(0, 1), sink));
  REQUIRE(test::exact_once_in_5([&] {
    const auto offsets = scattered(1, 60);
    REQUIRE(reader->announce(offsets));
    rusage before{}, after{};
    ::getrusage(RUSAGE_THREAD, &before);
    REQUIRE(reader->read_batch(offsets, sink));
    ::getrusage(RUSAGE_THREAD, &after);
    return after.ru_minflt + after.ru_majflt == before.ru_minflt + before.ru_majflt;
  }));
}

TEST_CASE("prefetch: the back-off withholds hints on a cached file, and none once it has seen a miss") {
  for (const char* name : {"mmap-willneed-backoff", "mmap-random-willneed-backoff"}) {
    CAPTURE(name);
    ColdFile file(kPages);
    const ReadShape shape = {.read_size_bytes = 100, .reads_per_op = 16};
    REQUIRE(test::exact_once_in_5([&] {
      file.make_cold();
      file.fill_page_by_page();
      OneReader reader(*find_strategy(name), file, shape);
      auto other = reader.another();
      // 1000 hints wanted by two threads together; 0, 1, 2, 4, … 512 of them looked.
      for (std::size_t batch = 0; batch < 125; ++batch)
        REQUIRE(announce(batch % 2 ? *other : *reader, scattered(batch % 8 * 8, 8)));
      if (reader->suppressed_hints() + other->suppressed_hints() != 1000 - 11) return false;

      // Now all is absent. Up to 1024 nobody looks; the 1024th does, and from there on all hint.
      file.make_cold();
      REQUIRE(announce(*reader, scattered(0, 16)));
      if (reader->suppressed_offsets().size() != 16 || reader->suppressed_offsets()[3] != scattered(3, 1)[0])
        return false;
      REQUIRE(announce(*reader, scattered(16, 16)));
      if (reader->suppressed_offsets().size() != 8 || reader->suppressed_offsets()[7] != scattered(23, 1)[0])
        return false;
      REQUIRE(announce(*other, scattered(32, 16)));
      if (!other->suppressed_offsets().empty()) return false;
      return file.settled_pages(24) == 24;
    }));
  }
}

TEST_CASE("prefetch: who asks mincore each time suppresses nothing and leaves cached pages alone") {
  ColdFile file(kPages);
  OneReader reader(*find_strategy("mmap-random-willneed-mincore"), file,
                   {.read_size_bytes = 100, .reads_per_op = 16});
  for (std::size_t batch = 0; batch < 4; ++batch) REQUIRE(announce(*reader, scattered(batch * 16, 16)));
  CHECK(reader->suppressed_hints() == 0);
  CHECK(file.settled_pages(64) == 64);
}

TEST_CASE("prefetch: a batch of more ranges than one process_madvise takes") {
  ColdFile file(kPages);
  OneReader reader(*find_strategy("mmap-random-willneed-vec"), file,
                   {.read_size_bytes = 1, .reads_per_op = 1100});
  if (!reader.refusal().empty()) test::skip(reader.refusal());
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t page = 0; page < 1100; ++page) offsets.push_back(2 * page * page_size() + page);
  REQUIRE(reader->announce(offsets));
  CHECK(file.settled_pages(1100) == 1100);
}

// Exit code of `work` in a process of its own.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

enum Verdict { kWorks, kRefused, kOther };

// What prepare() of the strategy says to this process.
Verdict verdict(std::string_view strategy_name, const std::string& path, std::string_view says) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return kOther;
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  auto mapping = MappedRegion::map(size, PROT_READ, MAP_SHARED, fd.get(), "map the test file");
  if (!mapping) return kOther;
  auto prepared = find_strategy(strategy_name)
                      ->prepare({fd.get(), size, mapping->data(), page_size()},
                                {.read_size_bytes = 100, .reads_per_op = 1});
  if (prepared) return kWorks;
  const bool as_said = prepared.error().message.find(says) != std::string::npos;
  return prepared.error().kind == ErrorKind::kUnsupported && as_said ? kRefused : kOther;
}

TEST_CASE("prefetch: who may not know what is resident is refused, and told as whom to run") {
  if (::geteuid() != 0) test::skip("needs root to become another user");
  constexpr uid_t kNobody = 65534;
  ColdFile file(1);
  // Its folder may be closed to others; the descriptor is open already.
  const auto as_nobody = [&](std::string_view strategy) {
    return in_child([&] {
      const std::string path = fmt::format("/proc/self/fd/{}", file.fd());
      if (::setgroups(0, nullptr) || ::setresgid(kNobody, kNobody, kNobody) ||
          ::setresuid(kNobody, kNobody, kNobody))
        return int(kOther);
      return int(verdict(strategy, path, "--user 0"));
    });
  };
  for (const char* strategy :
       {"mmap-willneed-backoff", "mmap-random-willneed-backoff", "mmap-random-willneed-mincore"}) {
    CAPTURE(strategy);
    REQUIRE(::fchmod(file.fd(), 0644) == 0);
    CHECK(as_nobody(strategy) == kRefused);
    REQUIRE(::fchmod(file.fd(), 0646) == 0);  // may write it
    CHECK(as_nobody(strategy) == kWorks);
    REQUIRE(::fchmod(file.fd(), 0444) == 0);
    REQUIRE(::fchown(file.fd(), kNobody, 0) == 0);  // owns it
    CHECK(as_nobody(strategy) == kWorks);
    REQUIRE(::fchown(file.fd(), 0, 0) == 0);
  }
  REQUIRE(::fchmod(file.fd(), 0644) == 0);
  CHECK(as_nobody("mmap-random-willneed") == kWorks);  // asks nobody
}

TEST_CASE(
    "prefetch: a kernel that refuses process_madvise on oneself makes the row an error with its reason") {
  ColdFile file(1);
  const auto without = [&](std::uint32_t error, std::string_view says) {
    return in_child([&] {
      const test::FilteredCalls calls{SYS_process_madvise, 3, MADV_WILLNEED};
      if (!test::take_away(calls, error)) return int(kOther);
      return int(verdict("mmap-random-willneed-vec", fmt::format("/proc/self/fd/{}", file.fd()), says));
    });
  };
  CHECK(without(EPERM, "CAP_SYS_NICE") == kRefused);
  CHECK(without(ENOSYS, "Linux 5.10") == kRefused);
}

TEST_CASE("prefetch: a call that advises less than the batch is an error") {
  ColdFile file(kPages);
  // 1: the filter pretends that the call advised nothing.
  const int code = in_child([&] {
    OneReader reader(*find_strategy("mmap-random-willneed-vec"), file,
                     {.read_size_bytes = 100, .reads_per_op = 2});
    if (!reader.refusal().empty()) return 77;
    if (!test::take_away({SYS_process_madvise, 3, MADV_WILLNEED}, 0)) return 2;
    const Status status = announce(*reader, scattered(0, 2));
    return !status && status.error().message.find("0 of 201 bytes advised") != std::string::npos ? 0 : 1;
  });
  if (code == 77) test::skip("process_madvise on oneself is refused here");
  CHECK(code == 0);
}

}
}
