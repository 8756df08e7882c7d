#pragma once
// A strategy: one way to get bytes out of a file. It lives in a file of its own and has one line in
// registry.cpp. Copy mmap.cpp to start a new one; the contract tests run over the registry, so it is
// tested without a new test.
//
// The worker owns the clock, the histogram and the counting, so that no strategy can measure differently.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "analysis/result.h"
#include "userspace/strategies/sink.h"

namespace iotrace {

// The file as the worker holds it, before its reader threads start.
struct SourceFile {
  int fd = -1;  // opened for reading, a description of this repetition's own
  std::uint64_t size_bytes = 0;
  std::byte* mapping = nullptr;  // PROT_READ, MAP_SHARED, whole file; null unless Strategy::maps_file
  std::uint64_t page_size_bytes = 4096;
};

struct ReadShape {
  std::uint64_t read_size_bytes = 0;
  std::uint32_t reads_per_op = 0;  // the most offsets that one batch holds
};

// One reader thread's side of a strategy. Built and used by that thread alone. Its buffers are written once
// when it is built, so that they never fault while the clock runs.
class Reader {
public:
  virtual ~Reader() = default;

  // Tells the kernel what read_batch() will ask for next. A strategy without hints leaves it as it is.
  // Between the two the worker computes for as long as --compute says.
  //   offsets  those of the read_batch() that follows
  //   errors   failed: the call that the kernel refused
  virtual Status announce(std::span<const std::uint64_t> offsets) {
    static_cast<void>(offsets);
    return {};
  }

  // Reads read_size_bytes at each offset and hands the bytes to the sink. No allocation unless it fails.
  // After an error the reader is not used again.
  //   offsets  [1..reads_per_op], each at most size_bytes - read_size_bytes
  //   errors   failed: the call that failed, its errno and the offset; a short read is EIO "short read"
  virtual Status read_batch(std::span<const std::uint64_t> offsets, Sink& sink) = 0;

  // Hints wanted but withheld by a back-off, since the reader was built.
  virtual std::uint64_t suppressed_hints() const { return 0; }
  // Of which reads in the last announce(): whoever knows the cache can tell which pages were absent.
  virtual std::span<const std::uint64_t> suppressed_offsets() const { return {}; }
};

// Called once by each reader thread, possibly by many at a time.
using MakeReader = std::function<Result<std::unique_ptr<Reader>>()>;

struct Strategy {
  std::string_view name;
  std::string_view summary;  // one line for `iotrace list strategies`
  bool maps_file = false;
  bool hints = false;                  // gives WILLNEED-like hints
  bool withholds = false;              // but not all: see Reader::suppressed_offsets()
  bool specimen = false;               // shows a known bug: never part of `all`
  bool bypasses_cache = false;         // O_DIRECT: cold ends by duration alone
  std::string_view differs_from = {};  // the strategy it should differ from where pages are absent
  bool sequential_only = false;        // offsets of a thread only grow, but for a new pass

  // Once per repetition, before the threads start: advice on the mapping, flags of the descriptor. Returns
  // how each thread makes its reader. What the threads share (a lock, a counter) is created here and lives
  // in that function, so it is fresh in each repetition. The file must outlive all readers.
  Result<MakeReader> (*prepare)(const SourceFile&, const ReadShape&) = nullptr;
};

// In the order in which reports show them.
std::span<const Strategy> strategies();

// Null: no such strategy.
const Strategy* find_strategy(std::string_view name);

}
