// Requests to the device, and the windows that the kernel chose to read ahead.

#include <fmt/format.h>

#include "analysis/reports/detail_tables.h"
#include "analysis/reports/row_table.h"

namespace iotrace::wording {

namespace {

std::string mean_text(const Histogram& numbers, auto text) {
  const auto mean = numbers.mean();
  return mean ? text(*mean) : "";
}

// The largest folios that a window was filled with: "2^9 pages".
std::string largest_order(const std::map<std::uint32_t, Count>& windows_by_order) {
  std::optional<std::uint32_t> largest;
  for (const auto& [order, windows] : windows_by_order)
    if (windows > 0) largest = order;
  return largest ? std::to_string(*largest) : "";
}

}

std::optional<ResponseTable> device_reads(const RunRecord& record, const Shown& shown) {
  RowTable table(
      "requests to the device that read the file",
      {"reads\n/op", "mean\nsize", "p50", "p99", "longest", "depth\nmean", "depth\nmost", "of no\nfile"});
  for (std::uint32_t index : shown) {
    const Row& row = record.rows[index];
    if (!row.block_io || row.block_io->reads.value_or(0) == 0) continue;
    const BlockIo& io = *row.block_io;
    table.start_row(row);
    table.add_per_op(io.reads, "block_io.reads");
    table.add_known(io.request_bytes, "block_io.request_bytes",
                    [](const Histogram& sizes) { return mean_text(sizes, human_bytes); });
    for (double q : {0.5, 0.99, 1.0})
      table.add_known(io.lat_ns, "block_io.lat_ns", [&](const Histogram& lat) { return ns_text(lat, q); });
    table.add_known(io.queue_depth, "block_io.queue_depth",
                    [](const Histogram& depths) { return mean_text(depths, three_digits); });
    table.add_known(io.queue_depth, "block_io.queue_depth",
                    [](const Histogram& depths) { return quantile_text(depths, 1); });
    table.add_known(io.unplaced, "block_io.unplaced", count_text);
  }
  return std::move(table).finish();
}

std::optional<ResponseTable> readahead_windows(const RunRecord& record, const Shown& shown) {
  RowTable table("windows that the kernel read ahead",
                 {"at a missing\npage /op", "at a marked\npage /op", "pages\np50", "pages\nmost",
                  "largest\norder", "mmap_miss\nmost"});
  for (std::uint32_t index : shown) {
    const Row& row = record.rows[index];
    if (!row.readahead || row.readahead->sync.value_or(0) + row.readahead->async.value_or(0) == 0) continue;
    const Readahead& ahead = *row.readahead;
    table.start_row(row);
    table.add_per_op(ahead.sync, "readahead.sync");
    table.add_per_op(ahead.async, "readahead.async");
    for (double q : {0.5, 1.0})
      table.add_known(ahead.window_pages, "readahead.window_pages",
                      [&](const Histogram& pages) { return quantile_text(pages, q); });
    table.add_known(ahead.orders, "readahead.orders", largest_order);
    table.add_known(ahead.mmap_miss_max, "readahead.mmap_miss_max", count_text);
  }
  return std::move(table).finish();
}

}
