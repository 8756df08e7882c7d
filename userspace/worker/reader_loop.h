#pragma once
// What one reader thread does: the same loop for every strategy and pattern.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/result.h"
#include "userspace/patterns/pattern.h"
#include "userspace/strategies/strategy.h"
#include "userspace/worker/page_marks.h"
#include "userspace/worker/shared_block.h"
#include "userspace/worker/window.h"

namespace iotrace {

class ReaderLoop {
public:
  //   result   this thread's place in the shared block; written to at once, so that it never faults later
  ReaderLoop(SharedBlock& block, std::uint32_t thread, std::unique_ptr<Reader> reader,
             const Pattern& pattern);

  // Reads until `warmup_ns` is over, counting nothing.
  Status warm_up();

  // Reads through the measured window. One operation's end is the next one's start, so an operation costs
  // one clock reading and its latency holds the making of its offsets (about 5 ns each).
  //   marks  of the pages that were read, where probes look
  Status measure(Window& window, const PageMarks& marks);

private:
  std::unique_ptr<OffsetStream> make_stream(std::uint32_t round) const;
  Status read(std::span<const std::uint64_t> offsets, Sink& sink);

  SharedBlock& block_;
  ThreadResult& result_;
  std::uint32_t thread_;
  std::unique_ptr<Reader> reader_;
  const Pattern& pattern_;
  std::vector<std::uint64_t> offsets_;
  Sink sink_;
};

}
