// Intervals of a watch, one after the other.

#include <array>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/html_parts.h"

namespace iotrace::page {

namespace {

struct Line {
  const char* name;
  std::size_t style;
  std::optional<double> (*per_second)(const Interval&);
};

template<auto Member> std::optional<double> rate(const Interval& interval) {
  if (!(interval.*Member) || interval.seconds <= 0) return std::nullopt;
  return static_cast<double>(*(interval.*Member)) / interval.seconds;
}

std::optional<double> megabytes(const Interval& interval) {
  const auto bytes = rate<&Interval::device_read_bytes>(interval);
  return bytes ? std::optional(*bytes / 1e6) : std::nullopt;
}

struct Plot {
  const char *title, *note, *unit;
  std::vector<Line> lines;
};

const std::array<Plot, 4>& plots() {
  static const std::array<Plot, 4> kPlots{
      {{"Threads that waited",
        "at once, on average; locks: mmap_lock and futex, on which threads sleep that have no work",
        "threads",
        {{"faults", 1, rate<&Interval::fault_wait_s>},
         {"reads", 0, rate<&Interval::read_wait_s>},
         {"locks", 7, rate<&Interval::lock_wait_s>}}},
       {"Faults, reads and hints",
        "per second",
        "/s",
        {{"faults that waited", 1, rate<&Interval::waiting_faults>},
         {"read calls", 0, rate<&Interval::reads>},
         {"hints", 2, rate<&Interval::hints>},
         {"hints rejected", 7, rate<&Interval::hints_rejected>}}},
       {"Pages in and out of the cache",
        "per second",
        "pages/s",
        {{"came in", 0, rate<&Interval::added_pages>},
         {"left", 5, rate<&Interval::evicted_pages>},
         {"came back", 1, rate<&Interval::refault_pages>}}},
       {"Reads from the device", "per second", "MB/s", {{"read", 0, megabytes}}}}};
  return kPlots;
}

// {"kind": "timeline", "unit", "x": [seconds since the watch began, the end of each interval], "series":
// [{"name", "style", "values": [number | null], "labels": [text]}]}
std::optional<Json> block_of(const RunRecord& record, const Plot& plot) {
  Json x = Json::array(), series = Json::array();
  std::vector<std::string> columns{"from", "to"};
  std::vector<std::vector<std::string>> lines;
  for (const Interval& interval : record.intervals) {
    const double end = interval.begin_s + interval.seconds;
    x.push_back(end);
    lines.push_back({fmt::format("{:.1f} s", interval.begin_s), fmt::format("{:.1f} s", end)});
  }
  for (const Line& line : plot.lines) {
    Json values = Json::array(), labels = Json::array();
    bool some = false;
    for (const Interval& interval : record.intervals) {
      const auto value = line.per_second(interval);
      some |= value && *value > 0;
      values.push_back(value ? Json(*value) : Json(nullptr));
      labels.push_back(value ? fmt::format("{} {}", three_digits(*value), plot.unit)
                             : std::string(kNotAvailable));
    }
    if (!some) continue;
    columns.emplace_back(line.name);
    for (std::size_t i = 0; i < labels.size(); ++i) lines[i].push_back(labels[i]);
    series.push_back({{"name", line.name},
                      {"style", line.style},
                      {"values", std::move(values)},
                      {"labels", std::move(labels)}});
  }
  if (series.empty()) return std::nullopt;
  Json numbers = table("", 2, std::move(columns));
  for (auto& line : lines) add_line(numbers, std::move(line));
  return block(
      plot.title, plot.note,
      {{"kind", "timeline"}, {"unit", plot.unit}, {"x", std::move(x)}, {"series", std::move(series)}},
      {std::move(numbers)});
}

}

std::vector<Json> timeline_blocks(const RunRecord& record) {
  std::vector<Json> blocks;
  // One interval is no line.
  if (record.intervals.size() < 2) return blocks;
  for (const Plot& plot : plots())
    if (auto of_plot = block_of(record, plot)) blocks.push_back(std::move(*of_plot));
  return blocks;
}

}
