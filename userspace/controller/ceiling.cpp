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
constexpr std::uint32_t kTwiceDepth = 16;

struct Point {
  std::uint64_t read_size = 0;
  std::uint32_t depth = 1;
  std::optional<Count> ops;  // else for kSecondsEach
};

// Reads per second. Two calls with the same point read the same blocks in the same order.
Result<double> reads_per_second(const RunContext& run, const Point& point) {
  Options options = run.options;
  options.duration_s = kSecondsEach;
  options.ops = point.ops;
  RunContext untraced{.options = options,
                      .seed = run.seed,
                      .file_path = run.file_path,
                      .file_fd = run.file_fd,
                      .file_size_bytes = run.file_size_bytes,
                      .user = run.user,
                      .guardian = run.guardian,
                      .probes = nullptr,
                      .cache = run.cache};
  const PlannedRow row{.strategy = find_strategy("io_uring-direct"),
                       .cache_case = find_case("as-is"),
                       .pattern = find_pattern("random"),
                       .read_size_bytes = point.read_size,
                       .reads_per_op = point.depth,
                       .cell = {.align_bytes = kBlock}};
  auto result = run_repetition(untraced, row, {}, nullptr);
  if (!result) return result.error();
  if (interrupted()) return Error{"interrupted"};
  return static_cast<double>(result->repetition.ops) * point.depth / result->repetition.seconds;
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

// Half of the file, read twice: the device alone is as fast the second time.
Result<std::optional<double>> second_pass(const RunContext& run) {
  const Count ops = run.file_size_bytes / (kLargeRead * kTwiceDepth) / 2;
  if (ops == 0) return std::optional<double>();
  const Point half{.read_size = kLargeRead, .depth = kTwiceDepth, .ops = ops};
  auto first = reads_per_second(run, half);
  if (!first) return first.error();
  auto second = reads_per_second(run, half);
  if (!second) return second.error();
  return std::optional(*second / *first);
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
