#pragma once
// The memory that controller and worker share: the order, a handshake, and each thread's results. A memfd,
// so that it survives exec and vanishes with its last user.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "analysis/histogram.h"

namespace iotrace {

// The worker's descriptors after exec; nothing else is open.
inline constexpr int kSharedBlockFd = 3;
inline constexpr int kFileFd = 4;
inline constexpr int kGateFd = 5;    // traced repetitions only
inline constexpr int kLedgerFd = 6;  // likewise

inline constexpr std::uint32_t kMostThreads = 1024;

// What the worker has reached. It only moves forward.
enum class WorkerState : std::uint32_t {
  kStarting,
  kMapped,  // the file is open and mapped, readers are built; nothing of the file was touched
  kWarm,    // touched and warmed up as ordered; threads at rest
  kDone,    // the measured window is over; threads at rest, results complete
  kFailed,  // see SharedBlock::error
};

// What the controller wants. It only moves forward.
enum class Command : std::uint32_t {
  kNone,
  kStart,  // the cgroup is joined: give up root, open the file
  kWarmUp,
  kGo,
  kExit,
};

struct Order {
  std::array<char, 64> strategy{};
  std::array<char, 32> pattern{};
  std::uint32_t threads = 1;
  std::uint32_t reads_per_op = 1;
  std::uint32_t round = 0;
  bool touch = false;  // map every page before the window
  bool stop_at_pattern_end = false;
  bool traced = false;
  bool fill = false;                   // read the whole file in before the window
  std::uint64_t fill_front_bytes = 0;  // or so much of its front
  std::uint64_t ledger_bytes = 0;      // of the map behind kLedgerFd; 0: none
  std::uint64_t file_size_bytes = 0;
  std::uint64_t read_size_bytes = 0;
  std::uint64_t align_bytes = 1;
  std::uint64_t seed = 0;
  std::uint64_t warmup_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t ops = 0;  // 0: no limit; shared among the threads

  // The cell
  double rate = 0;               // ops per second that arrive, all threads together; 0: closed loop
  bool poisson = true;           // arrivals, else at fixed distances
  std::uint64_t compute_ns = 0;  // between hint and read
  double mmap_churn = 0;         // maps and unmaps per second of a thread beside the readers; 0: none
  double write_pct = 0;          // percent of reads that are writes instead
  std::uint64_t hot_size_bytes = 0, stride_bytes = 0;
  double cold_pct = 0, zipf_theta = 0;
};

// Operations finished per slot of time since the window opened. When time runs past the last slot, slots
// are joined in pairs and double their width, so any length of window fits and the memory is fixed.
struct RateSeries {
  static constexpr std::size_t kSlots = 256;
  static constexpr std::uint64_t kFirstWidthNs = 1'000'000;

  std::uint64_t width_ns = kFirstWidthNs;
  std::array<std::uint32_t, kSlots> ops{};

  void add(std::uint64_t since_start_ns) {
    while (since_start_ns >= width_ns * kSlots) join_pairs();
    ++ops[since_start_ns / width_ns];
  }
  void join_pairs() {
    for (std::size_t i = 0; i < kSlots / 2; ++i) ops[i] = ops[2 * i] + ops[2 * i + 1];
    for (std::size_t i = kSlots / 2; i < kSlots; ++i) ops[i] = 0;
    width_ns *= 2;
  }
};

struct alignas(4096) ThreadResult {
  std::uint64_t ops = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  std::uint64_t end_ns = 0;  // CLOCK_MONOTONIC, after the last operation
  std::uint64_t lat_sum_ns = 0, lat_min_ns = UINT64_MAX, lat_max_ns = 0;
  RateSeries series;
  std::array<std::uint64_t, histogram_bins(kOpSubBits)> lat_bins{};
  std::uint64_t writes = 0;    // reads that were writes instead
  std::uint64_t idle_ns = 0;   // open loop: waiting for the next arrival
  std::uint64_t unserved = 0;  // open loop: ops due in the window that had not begun at its end
  std::uint64_t suppressed_hints = 0;
  std::uint64_t warmup_ops = 0;  // read meanwhile, by std::atomic_ref
  // Open loop: from the intended start of each op
  std::uint64_t response_sum_ns = 0, response_min_ns = UINT64_MAX, response_max_ns = 0;
  std::array<std::uint64_t, histogram_bins(kOpSubBits)> response_bins{};
};

// rusage of the worker at one end of the window.
struct UsageMark {
  std::uint64_t major_faults = 0, minor_faults = 0;
  std::uint64_t user_ns = 0, system_ns = 0;
  std::uint64_t ctx_voluntary = 0, ctx_involuntary = 0;
};

struct SharedBlock {
  std::atomic<WorkerState> state{WorkerState::kStarting};
  std::atomic<Command> command{Command::kNone};
  std::atomic<bool> stop{false};  // end the window at the next operation

  Order order;
  std::uint64_t mapping_address = 0;  // of the file in the worker; 0: not mapped
  std::uint64_t start_ns = 0;         // CLOCK_MONOTONIC, the window opens
  UsageMark usage_start, usage_end;
  // The thread that maps and unmaps beside the readers; set before kMapped, 0: none
  std::uint32_t churn_tid = 0;
  std::uint64_t churn_done = 0;  // its maps and unmaps in the window
  UsageMark churn_usage;         // its part of what lies between the two marks above

  bool settled = true;  // the rate held still at the end of the warm-up

  std::atomic<bool> error_taken{false};
  std::array<char, 512> error{};                            // first failure, one line
  alignas(4096) std::array<std::byte, 4096> closed_gate{};  // stands in for the probes' gate when untraced

  ThreadResult* threads() {
    return reinterpret_cast<ThreadResult*>(reinterpret_cast<std::byte*>(this) + sizeof(SharedBlock));
  }
  static std::size_t size_for(std::uint32_t threads) {
    return sizeof(SharedBlock) + threads * sizeof(ThreadResult);
  }

  // Keeps the first failure's text. Async-signal-safe.
  void fail(std::string_view text) {
    if (error_taken.exchange(true)) return;
    std::size_t length = std::min(text.size(), error.size() - 1);
    std::memcpy(error.data(), text.data(), length);
    error[length] = '\0';
  }
};
static_assert(sizeof(SharedBlock) % 4096 == 0);
static_assert(std::atomic<WorkerState>::is_always_lock_free && sizeof(std::atomic<WorkerState>) == 4);

}
