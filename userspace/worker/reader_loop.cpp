#include "userspace/worker/reader_loop.h"

#include "userspace/worker/compute.h"
#include "userspace/worker/sleep.h"

namespace iotrace {

namespace {

// Streams of the warm-up must not be those of the measurement, or a warm-up would pre-read its offsets.
constexpr std::uint32_t kWarmupRounds = 1u << 31;

std::uint64_t share_of(std::uint64_t total, std::uint32_t thread, std::uint32_t threads) {
  return total / threads + (thread < total % threads ? 1 : 0);
}

}

ReaderLoop::ReaderLoop(SharedBlock& block, std::uint32_t thread, std::unique_ptr<Reader> reader,
                       std::unique_ptr<WriteMix> writes, const Pattern& pattern)
    : block_(block), result_(block.threads()[thread]), thread_(thread), reader_(std::move(reader)),
      writes_(std::move(writes)), pattern_(pattern), offsets_(block.order.reads_per_op) {
  result_ = ThreadResult{};
}

std::unique_ptr<OffsetStream> ReaderLoop::make_stream(std::uint32_t round) const {
  const Order& order = block_.order;
  return pattern_.make_stream({
      .file_size_bytes = order.file_size_bytes,
      .read_size_bytes = order.read_size_bytes,
      .align_bytes = order.align_bytes,
      .seed = order.seed,
      .round = round,
      .thread = thread_,
      .threads = order.threads,
      .hot_size_bytes = order.hot_size_bytes,
      .cold_pct = order.cold_pct,
      .zipf_theta = order.zipf_theta,
      .stride_bytes = order.stride_bytes,
  });
}

Status ReaderLoop::operate(std::span<const std::uint64_t> offsets, Sink& sink, const PageMarks& marks) {
  const std::span<const std::uint64_t> reads = writes_ ? writes_->keep_reads(offsets) : offsets;
  if (!reads.empty()) {
    if (Status announced = reader_->announce(reads); !announced) return announced;
    marks.mark_withheld(reader_->suppressed_offsets(), block_.order.read_size_bytes);
  }
  if (block_.order.compute_ns) compute_for(block_.order.compute_ns);
  if (!reads.empty())
    if (Status done = reader_->read_batch(reads, sink); !done) return done;
  return writes_ ? writes_->write() : Status();
}

std::optional<OpenLoop> ReaderLoop::open_loop() const {
  const Order& order = block_.order;
  if (order.rate <= 0) return std::nullopt;
  return OpenLoop({.rate = order.rate,
                   .poisson = order.poisson,
                   .seed = order.seed,
                   .round = order.round,
                   .thread = thread_,
                   .threads = order.threads},
                  block_.stop, result_);
}

void ReaderLoop::count(std::uint64_t latency_ns, std::uint64_t since_start_ns) {
  ++result_.lat_bins[histogram_bin(latency_ns, kOpSubBits)];
  result_.lat_sum_ns += latency_ns;
  if (latency_ns < result_.lat_min_ns) result_.lat_min_ns = latency_ns;
  if (latency_ns > result_.lat_max_ns) result_.lat_max_ns = latency_ns;
  result_.series.add(since_start_ns);
  ++result_.ops;
}

Status ReaderLoop::warm_up(const std::atomic<bool>& over) {
  std::unique_ptr<OffsetStream> stream = make_stream(block_.order.round + kWarmupRounds);
  Sink discarded;
  while (!over.load(std::memory_order_relaxed)) {
    std::uint32_t filled = stream->next(offsets_);
    if (filled == 0) {
      stream->rewind();
      filled = stream->next(offsets_);
      if (filled == 0) break;  // a part without a single block
    }
    if (Status done = operate({offsets_.data(), filled}, discarded, {}); !done) return done;
    std::atomic_ref(result_.warmup_ops).fetch_add(1, std::memory_order_relaxed);
  }
  return {};
}

Status ReaderLoop::measure(Window& window, const PageMarks& marks) {
  const Order& order = block_.order;
  std::unique_ptr<OffsetStream> stream = make_stream(order.round);
  const std::uint64_t most_ops = order.ops ? share_of(order.ops, thread_, order.threads) : UINT64_MAX;
  if (writes_) writes_->start_over();
  std::optional<OpenLoop> arrivals = open_loop();
  if (arrivals) sleep_precisely();
  Status outcome;

  const std::uint64_t suppressed_before = reader_->suppressed_hints();
  const std::uint64_t start = window.line_up();
  const std::uint64_t deadline = order.ops ? UINT64_MAX : start + order.duration_ns;
  if (arrivals) arrivals->begin(start, deadline);
  std::uint64_t before = monotonic_ns();
  while (result_.ops < most_ops && before < deadline && !block_.stop.load(std::memory_order_relaxed)) {
    std::uint32_t filled = stream->next(offsets_);
    if (filled == 0) {
      if (order.stop_at_pattern_end) break;
      stream->rewind();
      filled = stream->next(offsets_);
      if (filled == 0) break;
    }
    if (arrivals && !arrivals->wait_for_arrival(before)) break;
    outcome = operate({offsets_.data(), filled}, sink_, marks);
    if (!outcome) break;
    marks.mark({offsets_.data(), filled}, order.read_size_bytes);

    const std::uint64_t now = monotonic_ns();
    count(now - before, now - start);
    if (arrivals) arrivals->served(now);
    before = now;
  }
  result_.end_ns = before;
  window.leave();

  if (arrivals && outcome) arrivals->count_unserved(std::min(before, deadline), most_ops - result_.ops);
  result_.bytes = sink_.bytes();
  result_.checksum = sink_.checksum();
  if (writes_) result_.writes = writes_->written();
  result_.suppressed_hints = reader_->suppressed_hints() - suppressed_before;
  return outcome;
}

}
