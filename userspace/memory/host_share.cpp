#include "userspace/memory/host_share.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "analysis/format.h"
#include "userspace/host/text_file.h"

namespace iotrace {
namespace {

constexpr std::uint64_t kLeastForHostBytes = 1ull << 30;
constexpr std::uint64_t kHostPart = 10;  // one tenth

std::string size(std::uint64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

// "MemTotal:       24683848 kB"
std::optional<std::uint64_t> line_bytes(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  std::string word;
  for (std::uint64_t kib = 0; lines >> word;)
    if (word == name && lines >> kib) return kib << 10;
  return std::nullopt;
}

}

Result<HostMemory> host_memory(const std::string& prefix) {
  const std::string text = read_text(prefix + "/proc/meminfo").value_or("");
  auto total = line_bytes(text, "MemTotal:"), available = line_bytes(text, "MemAvailable:");
  if (!total || !available)
    return Error{"read /proc/meminfo: no MemTotal or MemAvailable there; mount /proc"};
  return HostMemory{*total, *available};
}

std::uint64_t kept_for_host(std::uint64_t total_bytes) {
  return std::max(kLeastForHostBytes, total_bytes / kHostPart);
}

Status leaves_host_enough(std::string_view what, std::uint64_t limit_bytes, std::uint64_t total_bytes) {
  const std::uint64_t kept = kept_for_host(total_bytes);
  if (total_bytes >= kept && limit_bytes <= total_bytes - kept) return {};
  return usage_error(
      fmt::format("{} would leave less than {} of this machine's {} to the rest of it; choose at most {}",
                  what, size(kept), size(total_bytes), size(total_bytes - std::min(kept, total_bytes))));
}

Result<std::uint64_t> bytes_to_pin(const HostMemory& host, std::uint64_t left_bytes) {
  const std::uint64_t kept = kept_for_host(host.total_bytes);
  if (left_bytes < kept)
    return Error{fmt::format("pin memory until {} are left: this machine keeps at least {} for itself; use a "
                             "larger file, or a memory cgroup (iotrace doctor)",
                             size(left_bytes), size(kept))};
  return host.available_bytes > left_bytes ? host.available_bytes - left_bytes : 0;
}

}
