#include "userspace/controller/ceiling.h"

#include <algorithm>

#include "userspace/controller/interrupt.h"

namespace iotrace {

namespace {

constexpr std::uint64_t kLargeRead = 1 << 20;
constexpr std::uint64_t kBlock = 4096;  // a multiple of every device's logical block size
constexpr double kSecondsEach = 0.1;
constexpr std::uint32_t kSmallDepths[] = {1, 4, 16, 64, 128};
constexpr std::uint32_t kLargeDepths[] = {1, 4, 16};
constexpr std::uint32_t kTwiceDepth = 4;

struct Point {
  std::uint64_t read_size = 0;
  std::uint32_t depth = 1;
  std::optional<Count> ops;  // else for kSecondsEach
  std::uint32_t blocks = 0;  // which ones: another number, others
};

// Two calls with the same row read the same blocks in the same order.
Result<double> reads_per_second(const RunContext& run, const PlannedRow& row, std::optional<Count> ops,
                                std::uint32_t blocks) {
  Options options = run.options;
  options.duration_s = kSecondsEach;
  options.ops = ops;
  const RunContext untraced{.options = options,
                            .seed = run.seed,
                            .file_path = run.file_path,
                            .file_fd = run.file_fd,
                            .file_size_bytes = run.file_size_bytes,
                            .user = run.user,
                            .guardian = run.guardian,
                            .cache = run.cache};
  auto result = run_repetition(untraced, row, {.round = blocks}, nullptr);
  if (!result) return result.error();
  if (interrupted()) return Error{"interrupted"};
  return static_cast<double>(result->repetition.ops) * row.reads_per_op / result->repetition.seconds;
}

// By one thread through io_uring; where its buffers can't be registered (RLIMIT_MEMLOCK counts all that the
// user has locked), by as many threads.
Result<double> reads_per_second(const RunContext& run, const Point& point) {
  PlannedRow row{.strategy = find_strategy("io_uring-direct"),
                 .cache_case = find_case("as-is"),
                 .pattern = find_pattern("random"),
                 .read_size_bytes = point.read_size,
                 .reads_per_op = point.depth,
                 .cell = {.align_bytes = kBlock}};
  auto rate = reads_per_second(run, row, point.ops, point.blocks);
  if (rate || interrupted()) return rate;
  row.strategy = find_strategy("direct");
  row.threads = point.depth;
  row.reads_per_op = 1;
  return reads_per_second(run, row, point.ops ? std::optional(*point.ops * point.depth) : std::nullopt,
                          point.blocks);
}

Status sweep(const RunContext& run, std::uint64_t read_size, std::span<const std::uint32_t> depths,
             std::vector<CeilingPoint>& into) {
  for (std::uint32_t depth : depths) {
    auto rate = reads_per_second(run, {.read_size = read_size, .depth = depth});
    if (!rate) return rate.error();
    into.push_back({read_size, depth, *rate, *rate * static_cast<double>(read_size)});
  }
  return {};
}

// A quarter of the file's worth of blocks, read twice; then other blocks, twice. The lower of the two ratios:
// a pause of the device during one of the four passes makes no cache.
Result<std::optional<double>> second_pass(const RunContext& run) {
  const Count ops = run.file_size_bytes / (kLargeRead * kTwiceDepth) / 4;
  if (ops == 0) return std::optional<double>();
  std::optional<double> lowest;
  for (std::uint32_t blocks : {0u, 1u}) {
    const Point quarter{.read_size = kLargeRead, .depth = kTwiceDepth, .ops = ops, .blocks = blocks};
    auto first = reads_per_second(run, quarter);
    if (!first) return first.error();
    auto second = reads_per_second(run, quarter);
    if (!second) return second.error();
    lowest = std::min(lowest.value_or(*second / *first), *second / *first);
  }
  return lowest;
}

}

Result<DeviceCeiling> measure_ceiling(const RunContext& run) {
  DeviceCeiling ceiling;
  // First, while the blocks have been read the least.
  auto twice = second_pass(run);
  if (!twice) return twice.error();
  ceiling.second_pass_ratio = *twice;

  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size : run.options.read_size_bytes) {
    const std::uint64_t whole_blocks = (size + kBlock - 1) / kBlock * kBlock;
    if (whole_blocks < kLargeRead && whole_blocks <= run.file_size_bytes) sizes.push_back(whole_blocks);
  }
  std::ranges::sort(sizes);
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  for (std::uint64_t size : sizes)
    if (Status swept = sweep(run, size, kSmallDepths, ceiling.points); !swept) return swept.error();
  if (run.file_size_bytes >= kLargeRead)
    if (Status swept = sweep(run, kLargeRead, kLargeDepths, ceiling.points); !swept) return swept.error();
  return ceiling;
}

}
