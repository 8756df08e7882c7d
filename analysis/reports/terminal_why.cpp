// Three tables of one line per strategy and thread count. A blank cell: there was nothing to count. A "-":
// not available, with the reason below.

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/missing_numbers.h"
#include "analysis/reports/terminal_parts.h"
#include "analysis/table.h"

namespace iotrace::terminal {

namespace {

const std::optional<Measurement>& counted_measurement(const Row& row) {
  return row.counters_from == "untraced" ? row.untraced : row.traced;
}

struct Window {
  double ops = 0;
  double thread_seconds = 0;
};

Window window_of(const Row& row, const std::optional<Measurement>& measurement) {
  Window window;
  if (measurement)
    for (const Repetition& rep : measurement->reps) {
      window.ops += static_cast<double>(rep.ops);
      window.thread_seconds += rep.seconds * row.threads;
    }
  return window;
}

// The tables share their two label columns; fill one line at a time.
class WhyTable {
public:
  explicit WhyTable(std::vector<TableColumn> columns) : table_(labelled(std::move(columns)), 2) {}

  void start_row(const Row& row) {
    finish_row();
    // A name stands on the first of its lines only.
    std::string name = row_name(row);
    cells_ = {TableCell(name == last_name_ ? "" : name),
              TableCell(threads_name(row.threads) + (row.drifted ? "!" : ""),
                        row.drifted ? Style::kCaution : Style::kPlain)};
    last_name_ = name;
  }
  void add(std::string text) { cells_.emplace_back(std::move(text)); }

  bool empty() const { return table_.empty() && cells_.empty(); }

  std::string render(const ReportOptions& options) {
    finish_row();
    return table_.render(kTerminalWidth, options.colour);
  }

private:
  static std::vector<TableColumn> labelled(std::vector<TableColumn> columns) {
    columns.insert(columns.begin(), {{"strategy", false}, {"", false}});
    return columns;
  }
  void finish_row() {
    if (!cells_.empty()) table_.add_row(std::move(cells_));
    cells_.clear();
  }

  Table table_;
  std::vector<TableCell> cells_;
  std::string last_name_;
};

struct HintCalls {
  Count issued = 0, accepted = 0;
};

std::optional<HintCalls> hint_calls(const Row& row) {
  if (!row.madvise) return std::nullopt;
  HintCalls calls;
  for (const MadviseCount& count : *row.madvise)
    if (count.advice == "WILLNEED") {
      calls.issued += count.calls;
      if (!count.error) calls.accepted += count.calls;
    }
  return calls;
}

bool hints_matter(const Row& row) {
  auto calls = hint_calls(row);
  return row.expects.hints || (calls && calls->issued > 0);
}

using Rows = std::vector<const Row*>;

std::string bytes_table(const Rows& rows, const ReportOptions& options, MissingNumbers& missing) {
  bool hints = std::ranges::any_of(rows, [](const Row* row) { return hints_matter(*row); });
  std::vector<TableColumn> columns{{"MB/s"}, {"asked\n/op"}, {"device\n/op"}, {"device\n/asked"}};
  if (hints) columns.insert(columns.end(), {{"WILLNEED\ncalls"}, {"ok"}});
  columns.push_back({"traced\n/untraced"});
  WhyTable table(std::move(columns));

  for (const Row* row : rows) {
    table.start_row(*row);
    const Measurement* speed = throughput_measurement(*row);
    table.add(speed && speed->bw_bytes ? megabytes_per_s(*speed->bw_bytes)
                                       : missing.mark(*row, "untraced", "MB/s"));

    double ops = window_of(*row, counted_measurement(*row)).ops;
    table.add(ops > 0 ? human_bytes(static_cast<double>(row->requested_bytes) / ops)
                      : missing.mark(*row, "requested_bytes", "asked/op"));
    table.add(ops > 0 && row->device_bytes ? human_bytes(static_cast<double>(*row->device_bytes) / ops)
                                           : missing.mark(*row, "device_bytes", "device/op"));
    table.add(row->amplification_ratio ? three_digits(*row->amplification_ratio)
                                       : missing.mark(*row, "device_bytes", "device/asked"));
    if (hints) {
      auto calls = hint_calls(*row);
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
    const auto& cost = row->observer_cost_ratio;
    table.add(cost && cost->median ? interval(*cost)
                                   : missing.mark(*row, "observer_cost_ratio", "traced/untraced"));
  }
  return table.render(options);
}

// Faults on the file's pages by kind, if they were counted.
struct FaultCounts {
  double all = 0;
  std::array<const std::optional<FaultClass>*, 3> kinds;
};

constexpr std::array kKinds{"mapped", "waited", "read"};

FaultCounts fault_counts(const Faults& faults) {
  FaultCounts counts{0, {&faults.mapped, &faults.waited, &faults.read}};
  for (const auto* kind : counts.kinds)
    if (*kind) counts.all += static_cast<double>((*kind)->count);
  return counts;
}

bool some_kind_known(const Faults& faults) {
  return faults.mapped || faults.waited || faults.read;
}

void add_fault_row(WhyTable& table, const Row& row, MissingNumbers& missing) {
  FaultCounts counts = fault_counts(*row.faults);
  double ops = window_of(row, row.traced).ops;
  table.start_row(row);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const auto& kind = *counts.kinds[i];
    table.add(kind && ops > 0 ? three_digits(static_cast<double>(kind->count) / ops)
                              : missing.mark(row, fmt::format("faults.{}", kKinds[i]), kKinds[i]));
  }
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const auto& kind = *counts.kinds[i];
    auto p99 = kind ? kind->lat_ns.percentile(0.99) : std::nullopt;
    if (kind)
      table.add(p99 ? human_ns(static_cast<double>(*p99)) : "");
    else
      table.add(missing.mark(row, fmt::format("faults.{}", kKinds[i]), kKinds[i]));
  }
  const Faults& faults = *row.faults;
  if (!faults.under_mmap_lock || !faults.under_vma_lock) {
    table.add(missing.mark(row, "faults.under_mmap_lock", "under mmap_lock"));
  } else {
    auto under = static_cast<double>(*faults.under_mmap_lock);
    double all = under + static_cast<double>(*faults.under_vma_lock);
    table.add(all > 0 ? percent(under / all) : "");
  }
}

std::string fault_table(const RunRecord& record, const std::vector<std::uint32_t>& rows,
                        const ReportOptions& options, MissingNumbers& missing) {
  WhyTable table({{"mapped\n/op"},
                  {"waited\n/op"},
                  {"read\n/op"},
                  {"mapped\np99"},
                  {"waited\np99"},
                  {"read\np99"},
                  {"under\nmmap_lock"}});
  std::vector<std::uint32_t> without, unknown;
  for (std::uint32_t index : rows) {
    const Row& row = record.rows[index];
    if (!row.faults || !some_kind_known(*row.faults))
      unknown.push_back(index);
    else if (fault_counts(*row.faults).all == 0)
      without.push_back(index);
    else
      add_fault_row(table, row, missing);
  }
  std::string out;
  if (!table.empty()) out += table.render(options);
  if (!without.empty()) out += note("none: " + name_rows(record, without));
  if (!unknown.empty())
    out += note(fmt::format("not known: {}: {}", name_rows(record, unknown),
                            reason_missing(record.rows[unknown.front()], "faults.read")));
  return out;
}

std::string cost_table(const Rows& rows, const ReportOptions& options, MissingNumbers& missing) {
  WhyTable table(
      {{"op p50"}, {"op p99"}, {"user"}, {"system"}, {"switches\n/op"}, {"minor\n/op"}, {"major\n/op"}});
  for (const Row* row : rows) {
    table.start_row(*row);
    const Measurement* speed = throughput_measurement(*row);
    for (auto [q, column] : {std::pair(0.5, "op p50"), std::pair(0.99, "op p99")}) {
      auto latency = speed ? speed->lat_ns.percentile(q) : std::nullopt;
      table.add(latency ? human_ns(static_cast<double>(*latency)) : missing.mark(*row, "untraced", column));
    }
    Window window = window_of(*row, counted_measurement(*row));
    if (!row->rusage || window.ops <= 0 || window.thread_seconds <= 0) {
      for (auto column : {"user", "system", "switches/op", "minor/op", "major/op"})
        table.add(missing.mark(*row, "rusage", column));
      continue;
    }
    const Rusage& usage = *row->rusage;
    table.add(percent(usage.user_s / window.thread_seconds));
    table.add(percent(usage.system_s / window.thread_seconds));
    for (Count count : {usage.ctx_voluntary + usage.ctx_involuntary, usage.minor_faults, usage.major_faults})
      table.add(three_digits(static_cast<double>(count) / window.ops));
  }
  return table.render(options);
}

// "2 repetitions with probes per row": what the counters are sums over.
std::string counted_over(const Rows& rows) {
  std::set<std::string> kinds;
  for (const Row* row : rows)
    if (const auto& m = counted_measurement(*row); m && !m->reps.empty())
      kinds.insert(counted(m->reps.size(), "repetition") +
                   (row->counters_from == "untraced" ? " without probes" : " with probes"));
  return kinds.empty() ? "no repetition" : fmt::format("{} per row", fmt::join(kinds, " or "));
}

// ", traced/untraced n = 1": the smaller side of that ratio.
std::string observer_samples(const Rows& rows) {
  std::set<std::uint32_t> sizes;
  for (const Row* row : rows)
    if (row->observer_cost_ratio && row->observer_cost_ratio->median)
      sizes.insert(row->observer_cost_ratio->n);
  return sizes.empty() ? "" : fmt::format(", traced/untraced n = {}", fmt::join(sizes, " or "));
}

}

std::string why_tables(const RunRecord& record, const RowGroup& group, const ReportOptions& options) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t index : in_reading_order(record, group.rows))
    if (!record.rows[index].error && !record.rows[index].control) shown.push_back(index);
  if (shown.empty()) return {};
  Rows rows;
  for (std::uint32_t index : shown) rows.push_back(&record.rows[index]);

  MissingNumbers missing;
  std::string out =
      '\n' + note(fmt::format("why: counters of {}{}", counted_over(rows), observer_samples(rows)));
  out += bytes_table(rows, options, missing);
  out += "\nfaults on the file's pages\n" + fault_table(record, shown, options, missing);
  out += fmt::format("\nlatency of an op ({} loop), CPU, all faults of the process\n",
                     printable(rows.front()->cell.pace));
  out += cost_table(rows, options, missing);

  if (std::ranges::any_of(rows, [](const Row* row) { return row->drifted; }))
    out += note("! drifted: these numbers mix device and cache.");
  for (const std::string& reason : missing.reasons()) out += note("- not available: " + reason);
  return out;
}

std::string why_legend() {
  return '\n' +
         note("MB/s: from the median ops/ms; 10^6 bytes. traced/untraced: throughput with probes over that "
              "without.") +
         note("mapped: the page was in the cache; waited: its I/O was already under way; read: by the fault "
              "itself. "
              "Their p99 is at most 12.5 % too high. under mmap_lock: of these faults; the others ended "
              "under the "
              "VMA lock.") +
         note("op p50, p99: over every op of the repetitions behind ops/ms, at most 0.8 % too high; in a "
              "closed loop "
              "the next op starts when the last is done. user, system: % of the reader threads' time. minor, "
              "major: "
              "as the kernel counts them.");
}

}
