// The latency histograms as bcc's print_log2_hist draws them, for readers who know those.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/terminal_parts.h"

namespace iotrace::terminal {

namespace {

constexpr std::size_t kBarWidth = 40;

// Counts by power of two: slot 0 holds 0 and 1, slot k holds [2^k, 2^(k+1)).
std::array<std::uint64_t, 64> by_octave(const Histogram& histogram) {
  std::array<std::uint64_t, 64> slots{};
  for (auto [bin, count] : histogram.bins()) {
    std::uint64_t low = histogram_bin_low(bin, histogram.sub_bits());
    slots[low < 2 ? 0 : 63 - static_cast<std::size_t>(__builtin_clzll(low))] += count;
  }
  return slots;
}

std::string bcc_histogram(const Histogram& histogram) {
  auto slots = by_octave(histogram);
  auto holds = [](std::uint64_t count) { return count > 0; };
  auto first = std::ranges::find_if(slots, holds) - slots.begin();
  auto last = std::find_if(slots.rbegin(), slots.rend(), holds).base() - slots.begin();
  std::uint64_t largest = *std::ranges::max_element(slots);

  std::string out = fmt::format("{:>24} : {:<10} distribution\n", "nsecs", "count");
  for (auto slot = first; slot < last; ++slot) {
    std::uint64_t count = slots[static_cast<std::size_t>(slot)];
    std::uint64_t low = slot == 0 ? 0 : 1ull << slot;
    std::uint64_t high = slot == 63 ? UINT64_MAX : (2ull << slot) - 1;
    std::string bar(
        static_cast<std::size_t>(kBarWidth * static_cast<double>(count) / static_cast<double>(largest)), '*');
    out += fmt::format("{:>10} -> {:<10} : {:<10} |{:<{}}|\n", low, high, count, bar, kBarWidth);
  }
  return out;
}

}

std::string fault_histograms(const RunRecord& record, const RowGroup& group) {
  std::string out;
  for (std::uint32_t index : in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    if (!row.faults || row.error) continue;
    for (auto [name, kind] : {std::pair("mapped", &row.faults->mapped),
                              std::pair("waited", &row.faults->waited), std::pair("read", &row.faults->read)})
      if (*kind && (*kind)->lat_ns.count() > 0)
        out += '\n' +
               note(fmt::format("{}: latency of faults of kind {} (n {})", name_rows(record, {index}), name,
                                (*kind)->lat_ns.count())) +
               bcc_histogram((*kind)->lat_ns);
  }
  return out;
}

}
