// Distributions over each other: ops, response times of an open loop, page faults.

#include <functional>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/reports/detail_tables.h"
#include "analysis/reports/html_parts.h"

namespace iotrace::page {

namespace {

using LatencyOf = std::function<const Histogram*(const Row&)>;

constexpr double kQuantiles[] = {0.5, 0.9, 0.99, 0.999, 1};

// A block with a view for each thread count; nothing where no row has samples.
void add_block(std::vector<Json>& blocks, const RunRecord& record, const std::vector<std::uint32_t>& rows,
               std::string title, std::string note, const std::string& counted, const LatencyOf& latency_of) {
  Distributions plot;
  Json numbers =
      table("", 2, {"strategy", "threads", counted, "mean", "p50", "p90", "p99", "p99.9", "longest"});
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    const Histogram* latency = latency_of(row);
    if (!latency || latency->count() == 0) continue;
    plot.add(threads_name(row.threads), row_label(row), style_of(record, row), row.control, *latency);
    std::vector<std::string> cells{wording::row_name(row),
                                   threads_name(row.threads) + (row.drifted ? " (drifted)" : ""),
                                   std::to_string(latency->count()), human_ns(*latency->mean())};
    for (double q : kQuantiles) cells.push_back(human_ns(static_cast<double>(*latency->percentile(q))));
    add_line(numbers, std::move(cells));
  }
  if (!plot.empty())
    blocks.push_back(block(std::move(title), std::move(note), std::move(plot).plot(), {std::move(numbers)}));
}

}

std::vector<Json> latency_blocks(const RunRecord& record, const RowGroup& group) {
  std::vector<Json> blocks;
  const std::vector<std::uint32_t> rows = wording::rows_in_detail(record, group);
  const std::string shares = "share of samples in each step; four steps an octave";
  if (open_loop(record.rows[group.rows.front()])) {
    add_block(blocks, record, rows, "Response time",
              "from the intended start of an op, its wait for a free thread included; " + shares, "ops",
              [](const Row& row) { return row.response_ns ? &*row.response_ns : nullptr; });
    wording::ResponseTable response = wording::response_table(record, group);
    if (!blocks.empty()) {
      blocks.back()["tables"].push_back(table_of(response));
      blocks.back()["sentences"] = response.sentences;
    }
  } else {
    add_block(blocks, record, rows, "Latency of an op",
              "of a closed loop: the next op starts when the last is done; " + shares, "ops",
              [](const Row& row) {
                const Measurement* m = throughput_measurement(row);
                return m ? &m->lat_ns : nullptr;
              });
  }

  // Made once, so that the histograms outlive their use.
  std::map<const Row*, std::optional<Histogram>> waiting;
  for (std::uint32_t index : rows) waiting[&record.rows[index]] = waiting_latency(record.rows[index].faults);
  add_block(blocks, record, rows, "Latency of page faults that waited",
            "that read their page from the device, or waited for its I/O under way; " + shares, "faults",
            [&](const Row& row) { return waiting[&row] ? &*waiting[&row] : nullptr; });
  add_block(blocks, record, rows, "Latency of page faults on cached pages",
            "that only mapped what was there; " + shares, "faults", [](const Row& row) {
              return row.faults && row.faults->mapped ? &row.faults->mapped->lat_ns : nullptr;
            });
  return blocks;
}

}
