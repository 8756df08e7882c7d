// Every entry of the patterns' registry gives offsets that can be read, and the same ones again for the same
// shape.

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "userspace/patterns/pattern.h"

namespace iotrace {
namespace {

// Up to `most` offsets, asked for in batches of 7.
std::vector<std::uint64_t> take(OffsetStream& stream, std::size_t most) {
  std::vector<std::uint64_t> all;
  std::array<std::uint64_t, 7> batch;
  while (all.size() < most) {
    const std::uint32_t count = stream.next(batch);
    all.insert(all.end(), batch.begin(), batch.begin() + count);
    if (count < batch.size()) break;
  }
  return all;
}

std::vector<std::uint64_t> take(const Pattern& pattern, const PatternShape& shape, std::size_t most = 700) {
  return take(*pattern.make_stream(shape), most);
}

const PatternShape kShape = {.file_size_bytes = 10'000'019,
                             .read_size_bytes = 4096,
                             .seed = 0x1234567890,
                             .round = 3,
                             .thread = 1,
                             .threads = 4,
                             .hot_size_bytes = 1'000'000,
                             .cold_pct = 30,
                             .zipf_theta = 0.5,
                             .stride_bytes = 100'000};

TEST_CASE("patterns: names are unique and found, summaries are one line") {
  std::set<std::string_view> names;
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    CHECK(names.insert(pattern.name).second);
    CHECK(pattern.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
    CHECK(find_pattern(pattern.name) == &pattern);
    CHECK_FALSE(pattern.summary.empty());
    CHECK(pattern.summary.find('\n') == std::string_view::npos);
    CHECK(pattern.make_stream);
  }
  CHECK(find_pattern("rand") == nullptr);
}

TEST_CASE("patterns: every offset is aligned and leaves room for a read") {
  struct Knobs {
    std::uint64_t hot_size;
    double cold_pct, theta;
    std::uint64_t stride;
  };
  for (const Pattern& pattern : patterns())
    for (const Knobs& knobs :
         {Knobs{0, 0, 0, 0}, Knobs{4096, 50, 0.01, 4096}, Knobs{5000, 100, 0.5, 12'345},
          Knobs{99'999, 10, 0.99, 1'000'000}, Knobs{1u << 30, 90, 0.999, std::uint64_t{1} << 60}})
      for (std::uint64_t file_size : {4096u, 4097u, 100'000u, 10'000'019u})
        for (std::uint64_t read_size : {1u, 32u, 1000u, 4096u})
          for (std::uint64_t align : {1u, 8u, 4096u, 65536u})
            for (std::uint32_t thread : {0u, 4u}) {
              CAPTURE(pattern.name, knobs.hot_size, file_size, read_size, align, thread);
              const auto offsets = take(pattern, {.file_size_bytes = file_size,
                                                  .read_size_bytes = read_size,
                                                  .align_bytes = align,
                                                  .thread = thread,
                                                  .threads = 5,
                                                  .hot_size_bytes = knobs.hot_size,
                                                  .cold_pct = knobs.cold_pct,
                                                  .zipf_theta = knobs.theta,
                                                  .stride_bytes = knobs.stride});
              const bool all_good = std::all_of(offsets.begin(), offsets.end(), [&](std::uint64_t offset) {
                return offset % align == 0 && offset <= file_size - read_size;
              });
              if (!all_good) FAIL("an offset is not aligned or leaves no room");
              if (!pattern.finite && offsets.size() != 700) FAIL("an endless pattern ended");
            }
  SUCCEED();
}

TEST_CASE("patterns: the same shape replays, rewound finite streams too") {
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const auto stream = pattern.make_stream(kShape);
    const auto first = take(*stream, 1'000'000'000 * std::size_t(pattern.finite) + 700 * !pattern.finite);
    CHECK_FALSE(first.empty());
    CHECK(first == take(pattern, kShape, first.size() + pattern.finite));
    if (!pattern.finite) continue;
    CHECK(take(*stream, 1).empty());
    stream->rewind();
    CHECK(take(*stream, first.size() + 1) == first);
  }
}

TEST_CASE("patterns: streams that are drawn differ by seed, round and thread") {
  for (std::string_view name : {"random", "hot-cold", "zipf"}) {
    const Pattern& drawn = *find_pattern(name);
    const auto reference = take(drawn, kShape);
    for (int what = 0; what < 4; ++what) {
      CAPTURE(name, what);
      PatternShape other = kShape;
      if (what == 0) other.seed ^= 1;
      if (what == 1) other.seed ^= std::uint64_t{1} << 40;
      if (what == 2) other.round += 1;
      if (what == 3) other.thread += 1;
      const auto offsets = take(drawn, other);
      std::size_t equal = 0;
      for (std::size_t i = 0; i < offsets.size(); ++i) equal += offsets[i] == reference[i];
      CHECK(equal < 7);
    }
  }
}

TEST_CASE("patterns: a seed gives these random offsets on every machine") {
  const auto offsets = take(*find_pattern("random"), kShape, 7);
  CHECK(offsets == std::vector<std::uint64_t>{7964858, 4650149, 6809428, 9608245, 2961230, 8586393, 5152075});
}

TEST_CASE("patterns: random reaches both ends and every sixteenth of the file alike") {
  PatternShape shape = kShape;
  shape.file_size_bytes = 160;
  shape.read_size_bytes = 1;
  std::vector<int> hits(160);
  for (std::uint64_t offset : take(*find_pattern("random"), shape, 160 * 700)) ++hits[offset];
  // 700 expected per offset, standard deviation 26: seven of them either way.
  for (int hit : hits) CHECK(std::abs(hit - 700) < 7 * 26);
}

TEST_CASE("patterns: random with one choice gives that one") {
  for (std::uint64_t offset :
       take(*find_pattern("random"), {.file_size_bytes = 4096, .read_size_bytes = 4096}))
    CHECK(offset == 0);
}

// Every offset of all threads' parts, thread after thread.
std::vector<std::uint64_t> all_threads(PatternShape shape, std::uint32_t threads) {
  std::vector<std::uint64_t> all;
  shape.threads = threads;
  for (shape.thread = 0; shape.thread < threads; ++shape.thread) {
    const auto part = take(*find_pattern("sequential"), shape, 1'000'000'000);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST_CASE("patterns: sequential threads cover each whole read once, in order") {
  struct Case {
    std::uint64_t file_size, read_size, align;
    std::uint64_t stride, reads;  // expected
  };
  for (const Case& c : {Case{100'000, 1000, 1, 1000, 100}, Case{100'999, 1000, 1, 1000, 100},
                        Case{4096, 4096, 1, 4096, 1}, Case{100'000, 1000, 512, 1024, 97},
                        Case{99'304, 1000, 512, 1024, 97}, Case{65'536, 4096, 512, 4096, 16}})
    for (std::uint32_t threads : {1u, 2u, 3u, 7u, 64u, 1000u}) {
      CAPTURE(c.file_size, c.read_size, c.align, threads);
      std::vector<std::uint64_t> expected;
      for (std::uint64_t read = 0; read < c.reads; ++read) expected.push_back(read * c.stride);
      const PatternShape shape = {
          .file_size_bytes = c.file_size, .read_size_bytes = c.read_size, .align_bytes = c.align};
      CHECK(all_threads(shape, threads) == expected);
    }
}

TEST_CASE("patterns: a sequential thread without a part of its own reads nothing") {
  CHECK(take(*find_pattern("sequential"),
             {.file_size_bytes = 8192, .read_size_bytes = 4096, .thread = 2, .threads = 3})
            .empty());
}

}
}
