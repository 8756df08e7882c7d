// Throughput by threads, one line a strategy, with intervals: the table's lines are what findings link to.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/html_parts.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::page {

namespace {

using wording::Samples;

const Estimate* plotted(const Row& row) {
  const Measurement* m = throughput_measurement(row);
  return row.error || row.drifted || !m || !m->ops_per_ms.median ? nullptr : &m->ops_per_ms;
}

std::string latency(const Row& row, double q) {
  const Measurement* m = throughput_measurement(row);
  const auto ns = m ? m->lat_ns.percentile(q) : std::nullopt;
  return ns ? human_ns(static_cast<double>(*ns)) : std::string(kNotAvailable);
}

Json intervals_plot(const RunRecord& record, const RowGroup& group, const Samples& samples) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t index : group.rows) threads.push_back(record.rows[index].threads);
  std::ranges::sort(threads);
  threads.erase(std::ranges::unique(threads).begin(), threads.end());
  std::vector<std::string> names;
  for (std::uint32_t count : threads) names.push_back(threads_name(count));

  Intervals plot("threads", std::move(names));
  for (std::uint32_t index : wording::in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    const auto place = static_cast<std::size_t>(std::ranges::find(threads, row.threads) - threads.begin());
    if (const Estimate* estimate = plotted(row))
      plot.add(wording::row_name(row), style_of(record, row), row.control, place, *estimate,
               wording::throughput_text(row, samples) + " ops/ms", row_id(index));
  }
  return std::move(plot).plot();
}

}

Json throughput_block(const RunRecord& record, const RowGroup& group) {
  const Samples samples = wording::samples_of(record, group);
  const auto marks = wording::marks_of(group);
  Json rows = table(
      "", 2,
      {"strategy", "threads", "ops/ms", "", "MB/s", "op p50", "op p99", "device/ceiling", "traced/untraced"});
  for (std::uint32_t index : wording::in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    const Measurement* m = throughput_measurement(row);
    const auto mark = marks.find(index);
    const bool numbers = !row.error && m;
    add_line(rows,
             {wording::row_name(row), threads_name(row.threads), wording::throughput_text(row, samples),
              mark == marks.end() ? "" : std::string(1, mark->second),
              numbers && m->bw_bytes ? megabytes_per_s(*m->bw_bytes) : std::string(kNotAvailable),
              numbers ? latency(row, 0.5) : std::string(kNotAvailable),
              numbers ? latency(row, 0.99) : std::string(kNotAvailable),
              row.ceiling_ratio ? percent(*row.ceiling_ratio) : std::string(kNotAvailable),
              row.observer_cost_ratio && row.observer_cost_ratio->median ? interval(*row.observer_cost_ratio)
                                                                         : std::string(kNotAvailable)},
             row_id(index));
  }
  const bool open = open_loop(record.rows[group.rows.front()]);
  return block("Throughput", samples.unit + (open ? "; the rate is given" : "; more is better"),
               intervals_plot(record, group, samples), {std::move(rows)},
               open ? wording::state_sentences(record, group)
                    : wording::throughput_sentences(record, group, "*"));
}

}
