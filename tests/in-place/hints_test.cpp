// The calls of each hinting strategy, counted by the probes: as many as it says, and no others.

#include <sys/mman.h>

#include <memory>

#include "tests/in-place/probes_fixture.h"
#include "userspace/strategies/strategy.h"

using namespace iotrace;
using namespace iotrace::test;

namespace {

constexpr std::size_t kPages = 4096;  // 16 MiB, eight windows of mmap-window
constexpr std::size_t kBatch = 16;
constexpr std::size_t kBatches = 23;

// A reader of the strategy in the target, made before the window opens.
struct InTheTarget {
  MakeReader make_reader;
  std::unique_ptr<Reader> reader;

  void prepare(const Strategy& strategy, const InTarget& here, std::uint64_t read_size) {
    auto prepared = strategy.prepare({.fd = here.fd,
                                      .size_bytes = here.bytes,
                                      .mapping = const_cast<std::byte*>(here.file),
                                      .page_size_bytes = page_size()},
                                     {.read_size_bytes = read_size, .reads_per_op = kBatch});
    if (!prepared) ::_exit(1);
    make_reader = *prepared;
    auto made = make_reader();
    if (!made) ::_exit(1);
    reader = std::move(*made);
  }
  void read(std::span<const std::uint64_t> offsets) {
    Sink sink;
    if (!reader->announce(offsets) || !reader->read_batch(offsets, sink)) ::_exit(1);
  }
};

// What the probes see of a reader: 23 batches of 16 reads, each 11 pages further and at another place in its
// page; the strategies that read in order read the whole file.
ProbeReadings observe_strategy(const char* name, const ColdFile& file) {
  const Strategy& strategy = *find_strategy(name);
  auto probes = load_probes(file, {"syscalls"});
  auto state = std::make_shared<InTheTarget>();
  const std::uint64_t read_size = strategy.sequential_only ? 4 * page_size() : 100;
  TargetProcess target(
      file, probes->gate_fd(),
      [&, state](const InTarget& here) {
        if (!state->reader) return;  // the rehearsal
        std::array<std::uint64_t, kBatch> offsets;
        if (strategy.sequential_only) {
          for (std::uint64_t at = 0; at < here.bytes;) {
            for (std::uint64_t& offset : offsets) offset = at, at += read_size;
            state->read(offsets);
          }
          return;
        }
        for (std::size_t batch = 0; batch < kBatches; ++batch) {
          for (std::size_t i = 0; i < kBatch; ++i) offsets[i] = (batch * kBatch + i) * (11 * page_size() + 7);
          state->read(offsets);
        }
      },
      [&, state](const InTarget& here) { state->prepare(strategy, here, read_size); });
  return observe(*probes, target);
}

std::size_t madvise_calls(const ProbeReadings& readings, std::string_view advice) {
  std::size_t calls = 0;
  for (const MadviseCount& count : *readings.madvise)
    if (count.advice == advice && !count.error && count.misaligned == 0) calls += count.calls;
  return calls;
}

std::size_t all_madvise_calls(const ProbeReadings& readings) {
  std::size_t all = 0;
  for (const MadviseCount& count : *readings.madvise) all += count.calls;
  return all;
}

}

TEST_CASE("mmap-random-willneed: one madvise for each read") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("mmap-random-willneed", file);
  CHECK(madvise_calls(readings, "WILLNEED") == kBatches * kBatch);
  CHECK(all_madvise_calls(readings) == kBatches * kBatch);
  CHECK(calls(readings, "mincore") == 0);
}

TEST_CASE("mmap-random-willneed-vec: one process_madvise for each batch, no madvise") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("mmap-random-willneed-vec", file);
  CHECK(calls(readings, "process_madvise") == kBatches);
  CHECK(calls(readings, "madvise") == 0);
}

TEST_CASE("mmap-random-willneed-mincore: one mincore for each read, a hint for each that is absent") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("mmap-random-willneed-mincore", file);
  CHECK(calls(readings, "mincore") == kBatches * kBatch);
  CHECK(madvise_calls(readings, "WILLNEED") == kBatches * kBatch);

  REQUIRE(exact_once_in_5([&] {
    file.fill_page_by_page();
    ProbeReadings warm = observe_strategy("mmap-random-willneed-mincore", file);
    return calls(warm, "mincore") == kBatches * kBatch && all_madvise_calls(warm) == 0;
  }));
}

TEST_CASE("mmap-willneed-backoff: on a cached file a mincore at 0, 1, 2, 4, … hints, and none after it") {
  ColdFile file(kPages);
  for (const char* name : {"mmap-willneed-backoff", "mmap-random-willneed-backoff"}) {
    CAPTURE(name);
    REQUIRE(exact_once_in_5([&] {
      file.fill_page_by_page();
      ProbeReadings warm = observe_strategy(name, file);
      // 368 hints wanted: 0, 1, 2, 4, … 256.
      return calls(warm, "mincore") == 10 && all_madvise_calls(warm) == 0;
    }));
  }
}

TEST_CASE("mmap-random-willneed-backoff: on a cold file it asks and hints each time") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("mmap-random-willneed-backoff", file);
  CHECK(calls(readings, "mincore") == kBatches * kBatch);
  CHECK(madvise_calls(readings, "WILLNEED") == kBatches * kBatch);
}

TEST_CASE("mmap-populate: one MADV_POPULATE_READ for each read") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("mmap-populate", file);
  CHECK(madvise_calls(readings, "POPULATE_READ") == kBatches * kBatch);
  CHECK(all_madvise_calls(readings) == kBatches * kBatch);
}

TEST_CASE("mmap-window: each page of the file is hinted once, a window at a time") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("mmap-window", file);
  REQUIRE(readings.madvise->size() == 1);
  const MadviseCount& hints = readings.madvise->front();
  CHECK(hints.advice == "WILLNEED");
  CHECK_FALSE(hints.error);
  CHECK(hints.calls == 8);
  CHECK(hints.misaligned == 0);
  CHECK(hints.requested_bytes == file.bytes());
}

TEST_CASE("pread-fadvise: one fadvise and one pread for each read") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("pread-fadvise", file);
  CHECK(calls(readings, "fadvise64") == kBatches * kBatch);
  CHECK(calls(readings, "pread64") == kBatches * kBatch);
  CHECK(calls(readings, "madvise") == 0);
}

TEST_CASE("read: one read(2) for each read, nothing else") {
  ColdFile file(kPages);
  ProbeReadings readings = observe_strategy("read", file);
  CHECK(calls(readings, "read") == kPages / 4);
  CHECK(readings.syscalls->size() == 1);
}
