// Where the threads' time went: as a split, by lock, by system call.

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/reports/terminal_why_parts.h"
#include "analysis/row_facts.h"
#include "analysis/text.h"

namespace iotrace::terminal {

namespace {

std::string ns(std::optional<std::uint64_t> nanoseconds) {
  return nanoseconds ? human_ns(static_cast<double>(*nanoseconds)) : "";
}

bool contended(const Row& row) {
  if (!row.mmap_lock) return false;
  const auto &read = row.mmap_lock->read, &write = row.mmap_lock->write;
  return (read && read->contended > 0) || (write && write->contended > 0);
}

struct Calls {
  Count all = 0, failed = 0;
  const Histogram* lat_ns = nullptr;  // of every call of that name, whatever it returned
};

std::map<std::string, Calls> calls_by_name(const Row& row) {
  std::map<std::string, Calls> calls;
  for (const SyscallCount& count : *row.syscalls) {
    Calls& of_name = calls[printable(count.name)];
    of_name.all += count.calls;
    if (count.error) of_name.failed += count.calls;
    if (count.lat_ns) of_name.lat_ns = &*count.lat_ns;
  }
  return calls;
}

}

std::string time_table(const WhyRows& rows, MissingNumbers& missing) {
  auto known = [&](std::uint32_t index) { return rows.row(index).time.has_value(); };
  if (std::ranges::none_of(rows.shown, known)) return {};
  using Part = std::optional<double> TimeSplit::*;
  struct Column {
    std::string_view heading, key;
    Part part;
  };
  std::vector<Column> columns{{"running", "time.running_s", &TimeSplit::running_s},
                              {"fault wait", "time.fault_wait_s", &TimeSplit::fault_wait_s},
                              {"read wait", "time.read_wait_s", &TimeSplit::read_wait_s},
                              {"lock wait", "time.lock_wait_s", &TimeSplit::lock_wait_s}};
  if (open_loop(rows.row(rows.shown.front()))) columns.push_back({"idle", "time.idle_s", &TimeSplit::idle_s});
  std::vector<TableColumn> headings;
  for (const Column& column : columns) headings.push_back({std::string(column.heading)});
  WhyTable table(std::move(headings));
  for (std::uint32_t index : rows.shown) {
    const Row& row = rows.row(index);
    double seconds = time_total(row);
    table.start_row(row);
    for (const auto& [heading, key, part] : columns) {
      auto of_part = row.time ? (*row.time).*part : std::nullopt;
      if (!of_part || seconds <= 0)
        table.add(missing.mark(row, key, heading));
      else
        table.add(*of_part <= 0 ? "" : percent(*of_part / seconds));
    }
  }
  return "\nwhere the threads' time went\n" + table.render(rows.options);
}

// Only rows in which somebody waited: a lock that is free is no news.
std::string lock_table(const WhyRows& rows) {
  WhyTable table({{"readers\ntook it"},
                  {"waited"},
                  {"p99"},
                  {"longest"},
                  {"writers\ntook it"},
                  {"waited"},
                  {"p99"},
                  {"longest"}});
  for (std::uint32_t index : rows.shown) {
    const Row& row = rows.row(index);
    if (!contended(row)) continue;
    table.start_row(row);
    for (const auto& side : {row.mmap_lock->read, row.mmap_lock->write}) {
      LockWaits waits = side ? contended_waits(*side) : LockWaits{};
      table.add(side ? std::to_string(waits.acquired) : std::string(kNotAvailable));
      table.add(side ? std::to_string(waits.contended) : std::string(kNotAvailable));
      table.add(ns(waits.p99_ns));
      table.add(ns(waits.longest_ns));
    }
  }
  return table.empty()
             ? ""
             : "\nwaits for mmap_lock (rows in which there were any)\n" + table.render(rows.options);
}

std::string call_table(const WhyRows& rows) {
  WhyTable table({{"call", false}, {"calls\n/op"}, {"failed"}, {"p50"}, {"p99"}, {"longest"}});
  for (std::uint32_t index : rows.shown) {
    const Row& row = rows.row(index);
    double ops = ops_of(row.traced);
    if (!row.syscalls || ops <= 0) continue;
    for (const auto& [name, calls] : calls_by_name(row)) {
      if (calls.all == 0) continue;
      table.start_row(row);
      table.add(name);
      table.add(three_digits(static_cast<double>(calls.all) / ops));
      table.add(calls.failed == 0
                    ? ""
                    : percent(static_cast<double>(calls.failed) / static_cast<double>(calls.all)));
      table.add(calls.lat_ns ? ns(calls.lat_ns->percentile(0.5)) : "");
      table.add(calls.lat_ns ? ns(calls.lat_ns->percentile(0.99)) : "");
      table.add(calls.lat_ns ? ns(calls.lat_ns->max()) : "");
    }
  }
  return table.empty() ? "" : "\nsystem calls that bear on reading\n" + table.render(rows.options);
}

}
