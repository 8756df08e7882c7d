// Which reads become writes follows from the seed, and what is written is where it should be.

#include <unistd.h>

#include <numeric>
#include <sys/mman.h>
#include <vector>

#include <catch2/catch.hpp>

#include "userspace/unique_fd.h"
#include "userspace/worker/write_mix.h"

using namespace iotrace;

namespace {

constexpr std::uint64_t kBlock = 512, kBlocks = 64;

std::vector<std::uint64_t> offsets() {
  std::vector<std::uint64_t> all(kBlocks);
  for (std::uint64_t i = 0; i < kBlocks; ++i) all[i] = i * kBlock;
  return all;
}

UniqueFd zeroed_file() {
  UniqueFd fd(::memfd_create("write-mix", MFD_CLOEXEC));
  REQUIRE(::ftruncate(fd.get(), kBlock * kBlocks) == 0);
  return fd;
}

// Offsets of the blocks that hold anything but zeroes.
std::vector<std::uint64_t> written_blocks(int fd) {
  std::vector<std::uint64_t> found;
  std::vector<char> block(kBlock);
  for (std::uint64_t offset : offsets()) {
    REQUIRE(::pread(fd, block.data(), kBlock, static_cast<off_t>(offset)) == kBlock);
    if (std::accumulate(block.begin(), block.end(), 0, [](int a, char c) { return a | c; }))
      found.push_back(offset);
  }
  return found;
}

}

TEST_CASE("reads and writes of a batch part it, and only the writes reach the file") {
  const bool mapped = GENERATE(false, true);
  UniqueFd fd = zeroed_file();
  SourceFile file{.fd = fd.get(), .size_bytes = kBlock * kBlocks};
  auto mapping = MappedRegion::map(file.size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), "map");
  REQUIRE(mapping);
  if (mapped) file.mapping = mapping->data();

  const WriteShape shape{.write_pct = 50, .read_size_bytes = kBlock, .reads_per_op = kBlocks, .seed = 42};
  auto mix = WriteMix::make(file, shape);
  REQUIRE(mix);
  const auto all = offsets();
  const auto kept = (*mix)->keep_reads(all);
  const std::vector<std::uint64_t> reads(kept.begin(), kept.end());
  REQUIRE((*mix)->write());
  auto writes = written_blocks(fd.get());
  CHECK((*mix)->written() == writes.size());
  CHECK(writes.size() + reads.size() == kBlocks);
  // 64 coins: 32, and 12 are three standard deviations.
  CHECK(writes.size() > 20);
  CHECK(writes.size() < 44);
  for (std::uint64_t offset : reads) CHECK(std::ranges::find(writes, offset) == writes.end());

  auto again = WriteMix::make(file, shape);
  REQUIRE(again);
  CHECK(std::ranges::equal((*again)->keep_reads(all), reads));
}

TEST_CASE("at 100 % every read is a write") {
  UniqueFd fd = zeroed_file();
  auto mix = WriteMix::make({.fd = fd.get(), .size_bytes = kBlock * kBlocks},
                            {.write_pct = 100, .read_size_bytes = kBlock, .reads_per_op = kBlocks});
  REQUIRE(mix);
  CHECK((*mix)->keep_reads(offsets()).empty());
  REQUIRE((*mix)->write());
  CHECK(written_blocks(fd.get()).size() == kBlocks);
}
