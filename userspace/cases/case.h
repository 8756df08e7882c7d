#pragma once
// A case: the state of the page cache in which a repetition starts, and how that state is proven. It lives
// in a file of its own and has one line in registry.cpp. Copy cold.cpp to start a new one.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace iotrace {

struct Case {
  enum class Start {
    kAsIs,          // leave the cache alone
    kEvicted,       // nothing of the file is cached
    kFilled,        // all of it is, read in by memory/residency.h's fill()
    kFilledInside,  // as much of it as the worker's memory limit holds, read in once by the worker itself
  };

  std::string_view name;
  std::string_view summary;
  Start start = Start::kAsIs;
  bool touch = false;    // the worker maps every page before the window
  bool warm_up = false;  // and reads for --warmup
  // Residency that must hold before the window, and, where `stays` is set, after it too. With kFilledInside
  // the limit itself says what must be resident: see memory/limited_fill.h.
  double residency_at_least = 0.0;
  double residency_at_most = 1.0;
  bool residency_stays = false;
  bool no_faults = false;  // page faults in the window about 0, or the state was not reached
  // The worker's memory limit as a share of the file; nullopt: no limit of its own.
  std::optional<double> memory_of_file;
  // The window ends when the device has delivered this share of the file; nullopt: by time alone.
  std::optional<double> device_share_limit;
};

// Fewest bytes of memory that a worker is given whatever the file's size: its own code, stacks, buffers and
// page tables live there too.
inline constexpr unsigned long long kLeastMemoryBytes = 64ull << 20;

std::span<const Case> cases();
const Case* find_case(std::string_view name);

}
