// What was asked for, delivered and spent.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "analysis/reports/terminal_why_parts.h"
#include "analysis/row_facts.h"

namespace iotrace::terminal {

namespace {

bool hints_matter(const Row& row) {
  auto calls = willneed_calls(row);
  return row.expects.hints || (calls && calls->issued > 0);
}

}

std::string bytes_table(const WhyRows& rows, MissingNumbers& missing) {
  auto any = [&](auto has) {
    return std::ranges::any_of(rows.shown, [&](std::uint32_t index) { return has(rows.row(index)); });
  };
  const bool hints = any(hints_matter);
  std::vector<TableColumn> columns{{"MB/s"}, {"asked\n/op"}, {"device\n/op"}, {"device\n/asked"}};
  if (hints) columns.insert(columns.end(), {{"WILLNEED\ncalls"}, {"ok"}});
  const bool ceiling = any([](const Row& row) { return row.ceiling_ratio.has_value(); });
  const bool fio = any([](const Row& row) { return row.fio.has_value(); });
  if (ceiling) columns.push_back({"of\nceiling"});
  if (fio) columns.push_back({"ours\n/fio"});
  columns.push_back({"traced\n/untraced"});
  WhyTable table(std::move(columns));

  for (std::uint32_t index : rows.shown) {
    const Row* row = &rows.row(index);
    table.start_row(*row);
    const Measurement* speed = throughput_measurement(*row);
    table.add(speed && speed->bw_bytes ? megabytes_per_s(*speed->bw_bytes)
                                       : missing.mark(*row, "untraced", "MB/s"));

    double ops = ops_of(counted_measurement(*row));
    table.add(ops > 0 ? human_bytes(static_cast<double>(row->requested_bytes) / ops)
                      : missing.mark(*row, "requested_bytes", "asked/op"));
    table.add(ops > 0 && row->device_bytes ? human_bytes(static_cast<double>(*row->device_bytes) / ops)
                                           : missing.mark(*row, "device_bytes", "device/op"));
    table.add(row->amplification_ratio ? three_digits(*row->amplification_ratio)
                                       : missing.mark(*row, "device_bytes", "device/asked"));
    if (hints) {
      auto calls = willneed_calls(*row);
      if (!calls) {
        table.add(missing.mark(*row, "madvise", "WILLNEED calls"));
        table.add(missing.mark(*row, "madvise", "ok"));
      } else {
        table.add(calls->issued > 0 || row->expects.hints ? std::to_string(calls->issued) : "");
        table.add(calls->issued > 0
                      ? percent(static_cast<double>(calls->accepted) / static_cast<double>(calls->issued))
                      : "");
      }
    }
    if (ceiling)
      table.add(row->ceiling_ratio ? percent(*row->ceiling_ratio)
                                   : missing.mark(*row, "device_bytes", "of ceiling"));
    if (fio) table.add(row->fio ? three_digits(row->fio->ratio) : "");
    const auto& cost = row->observer_cost_ratio;
    table.add(cost && cost->median ? interval(*cost)
                                   : missing.mark(*row, "observer_cost_ratio", "traced/untraced"));
  }
  return table.render(rows.options);
}

std::string cost_table(const WhyRows& rows, MissingNumbers& missing) {
  WhyTable table({{"op mean"},
                  {"op p50"},
                  {"op p99"},
                  {"user"},
                  {"system"},
                  {"switches\n/op"},
                  {"minor\n/op"},
                  {"major\n/op"}});
  for (std::uint32_t index : rows.shown) {
    const Row* row = &rows.row(index);
    table.start_row(*row);
    const Measurement* speed = throughput_measurement(*row);
    auto mean = speed ? speed->lat_ns.mean() : std::nullopt;
    table.add(mean ? human_ns(*mean) : missing.mark(*row, "untraced", "op mean"));
    for (auto [q, column] : {std::pair(0.5, "op p50"), std::pair(0.99, "op p99")}) {
      auto latency = speed ? speed->lat_ns.percentile(q) : std::nullopt;
      table.add(latency ? human_ns(static_cast<double>(*latency)) : missing.mark(*row, "untraced", column));
    }
    double ops = ops_of(counted_measurement(*row)), seconds = thread_seconds(*row, counted_measurement(*row));
    if (!row->rusage || ops <= 0 || seconds <= 0) {
      for (auto column : {"user", "system", "switches/op", "minor/op", "major/op"})
        table.add(missing.mark(*row, "rusage", column));
      continue;
    }
    const Rusage& usage = *row->rusage;
    table.add(percent(usage.user_s / seconds));
    table.add(percent(usage.system_s / seconds));
    for (Count count : {usage.ctx_voluntary + usage.ctx_involuntary, usage.minor_faults, usage.major_faults})
      table.add(three_digits(static_cast<double>(count) / ops));
  }
  return fmt::format("\nlatency of an op ({} loop), CPU, all faults of the process\n",
                     printable(rows.row(rows.shown.front()).cell.pace)) +
         table.render(rows.options);
}

}
