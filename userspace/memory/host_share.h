#pragma once
// What is left to the host whatever iotrace does: max(1 GiB, 10 % of its memory).

#include <cstdint>
#include <string>

#include "analysis/result.h"

namespace iotrace {

struct HostMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  // free or reclaimable without swapping
};

// MemTotal and MemAvailable of /proc/meminfo.
//   prefix   put before /proc, for tests with recorded trees
//   errors   failed: no such lines
Result<HostMemory> host_memory(const std::string& prefix = "");

// A machine needs some memory to stay usable: 1 GiB for a small one, a tenth for a large one.
std::uint64_t kept_for_host(std::uint64_t total_bytes);

// Whether a cgroup may be given so much. `what` begins the sentence: "--memory 24G".
//   errors   usage: the rest would be less than kept_for_host
Status leaves_host_enough(std::string_view what, std::uint64_t limit_bytes, std::uint64_t total_bytes);

// How much to pin so that about `left_bytes` stay available to everybody else, the page cache among them.
// 0: no more than that is available now.
//   errors   failed: left_bytes is less than kept_for_host
Result<std::uint64_t> bytes_to_pin(const HostMemory& host, std::uint64_t left_bytes);

}
