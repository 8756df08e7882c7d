#pragma once
// A pattern: where the reads go. It lives in a file of its own and has one line in registry.cpp. Copy
// random.cpp to start a new one.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace iotrace {

struct PatternShape {
  std::uint64_t file_size_bytes = 0;
  std::uint64_t read_size_bytes = 0;  // <= file_size_bytes
  std::uint64_t align_bytes = 1;      // offsets are multiples of it
  std::uint64_t seed = 0;
  std::uint32_t round = 0;   // repetition
  std::uint32_t thread = 0;  // 0 .. threads - 1
  std::uint32_t threads = 1;

  std::uint64_t hot_size_bytes = 0;  // hot-cold: the part of the file that most reads go to
  double cold_pct = 0;               // and the percent of reads that go elsewhere
  double zipf_theta = 0;             // zipf: skew, in (0, 1)
  std::uint64_t stride_bytes = 0;    // strided: from one read to the next
};

// One thread's stream of offsets. The same shape gives the same stream.
class OffsetStream {
public:
  virtual ~OffsetStream() = default;

  // Fills the front of `offsets` and returns how many it filled: all of them, or fewer at the end of a
  // finite pattern's part, then 0 until rewind(). Every offset is at most file_size - read_size.
  virtual std::uint32_t next(std::span<std::uint64_t> offsets) = 0;
  // Starts a finite pattern again; nothing to do for endless ones.
  virtual void rewind() {}
};

struct Pattern {
  std::string_view name;
  std::string_view summary;
  bool finite = false;
  std::unique_ptr<OffsetStream> (*make_stream)(const PatternShape&) = nullptr;
};

std::span<const Pattern> patterns();
const Pattern* find_pattern(std::string_view name);

}
