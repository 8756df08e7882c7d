// Every entry of the strategies' registry reads what is in the file, says so when it can't, and keeps its
// hands off the clock: no fault of its own while it reads.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/skip.h"
#include "userspace/mapped_region.h"
#include "userspace/strategies/strategy.h"
#include "userspace/unique_fd.h"

namespace iotrace {
namespace {

// Not a multiple of the page, nor of 8.
constexpr std::uint64_t kFileSize = 1'000'003;

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 generator(7);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator());
  return bytes;
}

// A file of known bytes in $TMPDIR, else in the current folder. It has no name any more, so nothing stays
// behind however the test ends.
class TestFile {
public:
  TestFile() : bytes_(random_bytes(kFileSize)) {
    const char* folder = std::getenv("TMPDIR");
    std::string name = fmt::format("{}/iotrace-strategies-XXXXXX", folder ? folder : ".");
    fd_.reset(::mkstemp(name.data()));
    REQUIRE(fd_);
    REQUIRE(::unlink(name.c_str()) == 0);
    REQUIRE(::pwrite(fd_.get(), bytes_.data(), bytes_.size(), 0) == ssize_t(bytes_.size()));
    REQUIRE(::fsync(fd_.get()) == 0);
  }

  // Opening it gives a description of one's own, as opening a name would.
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }
  void truncate(std::uint64_t size) { REQUIRE(::ftruncate(fd_.get(), off_t(size)) == 0); }

  // The checksum as strategy.h defines it, byte by byte.
  std::uint64_t checksum(std::span<const std::uint64_t> offsets, std::uint64_t size) const {
    std::uint64_t sum = 0;
    for (std::uint64_t offset : offsets)
      for (std::uint64_t i = 0; i < size; ++i)
        sum += std::to_integer<std::uint64_t>(bytes_[offset + i]) << (i % 8 * 8);
    return sum;
  }

private:
  std::vector<std::byte> bytes_;
  UniqueFd fd_;
};

// What the worker does before its threads start.
class Repetition {
public:
  Repetition(const Strategy& strategy, const std::string& path, const ReadShape& shape) {
    fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(fd_);
    struct stat facts {};
    REQUIRE(::fstat(fd_.get(), &facts) == 0);
    file_ = {.fd = fd_.get(),
             .size_bytes = std::uint64_t(facts.st_size),
             .page_size_bytes = std::uint64_t(::sysconf(_SC_PAGESIZE))};
    if (strategy.maps_file) {
      auto mapping =
          MappedRegion::map(file_.size_bytes, PROT_READ, MAP_SHARED, fd_.get(), "map the test file");
      REQUIRE(mapping);
      mapping_ = std::move(*mapping);
      file_.mapping = mapping_.data();
    }
    auto prepared = strategy.prepare(file_, shape);
    if (!prepared) {
      error_ = prepared.error();
      return;
    }
    make_reader_ = std::move(*prepared);
    if (auto trial = make_reader_(); !trial) error_ = trial.error();
  }

  // Empty: works here.
  const std::optional<Error>& error() const { return error_; }
  Result<std::unique_ptr<Reader>> reader() const { return make_reader_(); }

private:
  UniqueFd fd_;
  MappedRegion mapping_;
  SourceFile file_;
  MakeReader make_reader_;
  std::optional<Error> error_;
};

// The first and the last possible read, reads over a page boundary, and some anywhere.
std::vector<std::uint64_t> interesting_offsets(std::uint64_t size, unsigned seed = 1) {
  const std::uint64_t last = kFileSize - size;
  std::vector<std::uint64_t> offsets = {0, last, last, 1, 4095, 4096, 4097, 8191, 511, 512};
  std::mt19937_64 generator(seed);
  while (offsets.size() < 37) offsets.push_back(generator() % (last + 1));
  return offsets;
}

// For those that read in order only: reads one after the other, at most 37.
std::vector<std::uint64_t> offsets_in_order(std::uint64_t size, std::uint64_t end) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t read = std::min<std::uint64_t>(37, end / size); read > 0; --read)
    offsets.push_back(end - read * size);
  return offsets;
}

std::vector<std::uint64_t> offsets_for(const Strategy& strategy, std::uint64_t size, unsigned seed = 1) {
  return strategy.sequential_only ? offsets_in_order(size, kFileSize - seed % 5 * 13)
                                  : interesting_offsets(size, seed);
}

// In batches of up to shape.reads_per_op; the last one is smaller.
Status read_all(Reader& reader, std::span<const std::uint64_t> offsets, const ReadShape& shape, Sink& sink) {
  while (!offsets.empty()) {
    const auto batch = offsets.first(std::min<std::size_t>(offsets.size(), shape.reads_per_op));
    if (Status status = reader.announce(batch); !status) return status;
    if (Status status = reader.read_batch(batch, sink); !status) return status;
    offsets = offsets.subspan(batch.size());
  }
  return {};
}

// The same by a reader of its own, as a thread does it.
Status read_all(const Repetition& repetition, std::span<const std::uint64_t> offsets, const ReadShape& shape,
                Sink& sink) {
  const auto reader = repetition.reader();
  if (!reader) return reader.error();
  return read_all(**reader, offsets, shape, sink);
}

std::string message(const Status& status) {
  return status ? "" : status.error().message;
}

constexpr bool kThroughCache = false;
constexpr bool kPastCache = true;

// Runs `check(strategy, repetition)` for each strategy of the kind that this machine can run. Returns the
// refusals of the others, empty if there are none.
template<typename Check>
std::string for_each_strategy(bool bypasses_cache, const std::string& path, const ReadShape& shape,
                              Check check) {
  std::string refused;
  for (const Strategy& strategy : strategies()) {
    if (strategy.bypasses_cache != bypasses_cache) continue;
    CAPTURE(strategy.name, shape.read_size_bytes, shape.reads_per_op);
    Repetition repetition(strategy, path, shape);
    if (!repetition.error()) {
      check(strategy, repetition);
      continue;
    }
    INFO(repetition.error()->message);
    REQUIRE(repetition.error()->kind == ErrorKind::kUnsupported);
    refused += fmt::format("{}: {}. ", strategy.name, repetition.error()->message);
  }
  return refused;
}

// What could be tested has passed; what could not is said.
void skip_if(const std::string& refused) {
  if (!refused.empty()) test::skip(refused);
}

void check_bytes(bool bypasses_cache) {
  const TestFile file;
  std::string refused;
  for (std::uint64_t size : {1u, 32u, 512u, 1000u, 4096u, 16384u})
    for (std::uint32_t reads_per_op : {1u, 16u}) {
      const ReadShape shape = {size, reads_per_op};
      const auto check = [&](const Strategy& strategy, const Repetition& repetition) {
        const auto offsets = offsets_for(strategy, size);
        Sink sink;
        const Status status = read_all(repetition, offsets, shape, sink);
        INFO(message(status));
        REQUIRE(status);
        CHECK(sink.bytes() == offsets.size() * size);
        CHECK(sink.checksum() == file.checksum(offsets, size));
      };
      refused = for_each_strategy(bypasses_cache, file.path(), shape, check);
    }
  skip_if(refused);
}

void check_threads(bool bypasses_cache) {
  constexpr unsigned kThreads = 4;
  const TestFile file;
  const ReadShape shape = {1000, 16};
  const auto thread_offsets = [&](const Strategy& strategy, unsigned thread) {
    const auto once = offsets_for(strategy, shape.read_size_bytes, thread);
    std::vector<std::uint64_t> offsets;
    for (int pass = 0; pass < 20; ++pass) offsets.insert(offsets.end(), once.begin(), once.end());
    return offsets;
  };
  const auto check = [&](const Strategy& strategy, const Repetition& repetition) {
    Sink sinks[kThreads];
    Status statuses[kThreads];
    {
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < kThreads; ++t)
        threads.emplace_back(
            [&, t] { statuses[t] = read_all(repetition, thread_offsets(strategy, t), shape, sinks[t]); });
    }
    for (unsigned t = 0; t < kThreads; ++t) {
      INFO(message(statuses[t]));
      REQUIRE(statuses[t]);
      CHECK(sinks[t].checksum() == file.checksum(thread_offsets(strategy, t), shape.read_size_bytes));
    }
  };
  skip_if(for_each_strategy(bypasses_cache, file.path(), shape, check));
}

// Touching a mapping past the end is SIGBUS, which is the worker's affair, so this is about system calls.
void check_truncated(bool bypasses_cache) {
  constexpr std::uint64_t kLeft = kFileSize / 2;
  const ReadShape shape = {4096, 4};
  const std::vector<std::uint64_t> beyond = {0, kFileSize - 4096, 8192};
  const std::vector<std::uint64_t> across = {0, 4096, kLeft - 100};
  const std::vector<std::uint64_t> in_order = {kLeft - 100 - 2 * 4096, kLeft - 100 - 4096, kLeft - 100};
  std::string refused;
  for (const auto& anywhere : {beyond, across}) {
    TestFile file;
    std::vector<std::pair<const Strategy*, std::unique_ptr<Repetition>>> opened;
    for (const Strategy& strategy : strategies())
      if (strategy.bypasses_cache == bypasses_cache && !strategy.maps_file)
        opened.emplace_back(&strategy, std::make_unique<Repetition>(strategy, file.path(), shape));
    file.truncate(kLeft);
    for (const auto& [strategy, repetition] : opened) {
      const auto& offsets = strategy->sequential_only ? in_order : anywhere;
      CAPTURE(strategy->name, offsets);
      if (repetition->error()) {
        REQUIRE(repetition->error()->kind == ErrorKind::kUnsupported);
        refused = repetition->error()->message;
        continue;
      }
      Sink sink;
      const Status status = read_all(*repetition, offsets, shape, sink);
      REQUIRE_FALSE(status);
      INFO(message(status));
      CHECK_THAT(status.error().message, Catch::Contains("EIO") && Catch::Contains("short read"));
      CHECK(sink.bytes() < offsets.size() * shape.read_size_bytes);
    }
  }
  skip_if(refused);
}

TEST_CASE("strategies: names are unique, in kebab case, and found") {
  std::set<std::string_view> names;
  for (const Strategy& strategy : strategies()) {
    CAPTURE(strategy.name);
    CHECK(names.insert(strategy.name).second);
    // io_uring is spelt as the kernel spells it.
    CHECK(strategy.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string_view::npos);
    if (strategy.name.find('_') != std::string_view::npos) CHECK(strategy.name.starts_with("io_uring"));
    CHECK(find_strategy(strategy.name) == &strategy);
    CHECK_FALSE(strategy.summary.empty());
    CHECK(strategy.summary.find('\n') == std::string_view::npos);
    CHECK(strategy.prepare);
  }
  CHECK(find_strategy("mmap-") == nullptr);
  CHECK(find_strategy("") == nullptr);
}

TEST_CASE("strategies: differs_from names another strategy that does not hint") {
  for (const Strategy& strategy : strategies()) {
    CAPTURE(strategy.name);
    // Whoever hints promises an effect against somebody.
    if (strategy.hints) CHECK_FALSE(strategy.differs_from.empty());
    if (strategy.differs_from.empty()) continue;
    const Strategy* other = find_strategy(strategy.differs_from);
    REQUIRE(other);
    CHECK(other != &strategy);
    CHECK_FALSE(other->hints);
  }
}

TEST_CASE("strategies: the checksum is the sum of little-endian words, the rest zero-extended") {
  const auto bytes = random_bytes(300);
  for (std::size_t start : {0u, 1u, 3u})
    for (std::size_t size = 0; size < 200; ++size) {
      CAPTURE(start, size);
      std::uint64_t expected = 0;
      for (std::size_t i = 0; i < size; ++i)
        expected += std::to_integer<std::uint64_t>(bytes[start + i]) << (i % 8 * 8);
      Sink sink;
      sink.consume(std::span(bytes).subspan(start, size));
      REQUIRE(sink.checksum() == expected);
      REQUIRE(sink.bytes() == size);
    }
}

TEST_CASE("strategies: through the page cache, each reads what is in the file") {
  check_bytes(kThroughCache);
}
TEST_CASE("strategies: past the page cache, each reads what is in the file") {
  check_bytes(kPastCache);
}

TEST_CASE("strategies: through the page cache, four threads at once read right") {
  check_threads(kThroughCache);
}
TEST_CASE("strategies: past the page cache, four threads at once read right") {
  check_threads(kPastCache);
}

TEST_CASE("strategies: through the page cache, a truncated file is a short read") {
  check_truncated(kThroughCache);
}
TEST_CASE("strategies: past the page cache, a truncated file is a short read") {
  check_truncated(kPastCache);
}

TEST_CASE("strategies: buffers do not fault while the clock runs") {
  const TestFile file;
  const ReadShape shape = {65536, 15};
  const auto check = [&](const Strategy& strategy, const Repetition& repetition) {
    if (strategy.maps_file) return;
    const auto offsets = offsets_for(strategy, shape.read_size_bytes);
    Sink sink;
    // The first reader pays for code that was never run; only buffers are new to the second.
    REQUIRE(read_all(repetition, offsets, shape, sink));
    const auto reader = repetition.reader();
    REQUIRE(reader);
    rusage before{}, after{};
    ::getrusage(RUSAGE_THREAD, &before);
    const Status status = read_all(**reader, offsets, shape, sink);
    ::getrusage(RUSAGE_THREAD, &after);
    REQUIRE(status);
    // A buffer left alone would take 16 faults a read; a stray one is the machine's.
    CHECK(after.ru_minflt - before.ru_minflt < 8);
  };
  skip_if(for_each_strategy(kThroughCache, file.path(), shape, check));
}

TEST_CASE("strategies: a hint that the kernel refuses is an error, except in specimens") {
  // No process may map the first page, so madvise(2) finds a hole there.
  const TestFile file;
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  const SourceFile nowhere = {
      .fd = fd.get(), .size_bytes = 4096, .mapping = reinterpret_cast<std::byte*>(4096)};
  const ReadShape shape = {100, 1};
  for (const Strategy& strategy : strategies()) {
    if (!strategy.hints || strategy.specimen || !strategy.maps_file) continue;
    CAPTURE(strategy.name);
    auto make_reader = strategy.prepare(nowhere, shape);
    if (!make_reader) {
      if (make_reader.error().kind == ErrorKind::kUnsupported) continue;
      CHECK_THAT(make_reader.error().message, Catch::Contains("madvise") && Catch::Contains("ENOMEM"));
      continue;
    }
    auto reader = (*make_reader)();
    REQUIRE(reader);
    const std::uint64_t offsets[] = {10};
    const Status status = (*reader)->announce(offsets);
    REQUIRE_FALSE(status);
    // mincore: of those that ask before they hint.
    CHECK_THAT(status.error().message,
               (Catch::Contains("madvise(MADV_WILLNEED)") || Catch::Contains("mincore")) &&
                   Catch::Contains("ENOMEM"));
  }
}

}
}
