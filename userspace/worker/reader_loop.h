#pragma once
// What one reader thread does: the same loop for every strategy and pattern.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/result.h"
#include "userspace/patterns/pattern.h"
#include "userspace/strategies/strategy.h"
#include "userspace/worker/open_loop.h"
#include "userspace/worker/page_marks.h"
#include "userspace/worker/shared_block.h"
#include "userspace/worker/window.h"
#include "userspace/worker/write_mix.h"

namespace iotrace {

class ReaderLoop {
public:
  //   writes   null: nothing is written
  // The thread's place in the shared block is written to at once, so that it never faults later.
  ReaderLoop(SharedBlock& block, std::uint32_t thread, std::unique_ptr<Reader> reader,
             std::unique_ptr<WriteMix> writes, const Pattern& pattern);

  // Reads in a closed loop until `over`, and counts nothing but its operations, in warmup_ops.
  Status warm_up(const std::atomic<bool>& over);

  // Reads through the measured window. Closed loop: one operation's end is the next one's start, so an
  // operation costs one clock reading and its latency holds the making of its offsets (about 5 ns each). Open
  // loop: it starts at its intended time, or when the thread is late at once, and the window lasts as long as
  // asked for.
  //   marks  of the pages that were read, where probes look
  Status measure(Window& window, const PageMarks& marks);

private:
  std::unique_ptr<OffsetStream> make_stream(std::uint32_t round) const;
  // Hint, computing, reads, writes; marks what it reads, and before that the hints that it withholds.
  Status operate(std::span<const std::uint64_t> offsets, Sink& sink, const PageMarks& marks);
  std::optional<OpenLoop> open_loop() const;
  void count(std::uint64_t latency_ns, std::uint64_t since_start_ns);

  SharedBlock& block_;
  ThreadResult& result_;
  std::uint32_t thread_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<WriteMix> writes_;
  const Pattern& pattern_;
  std::vector<std::uint64_t> offsets_;
  Sink sink_;
};

}
