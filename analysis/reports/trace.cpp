// A timeline of single events, as chrome://tracing and ui.perfetto.dev read it: JSON of Chrome's trace event
// format. A track per thread holds its faults, hints and read calls, which nest (a fault inside the call that
// took it). Reads of the device overlap, so they have tracks of their own beside the thread that asked for
// them, as many as were under way at once. Of a run, each row is a process.
//
// Times are microseconds with their nanoseconds behind the point, from the beginning of the window.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/reports/report.h"
#include "analysis/reports/wording.h"

namespace iotrace {

namespace {

using Json = nlohmann::ordered_json;

// Numbers of tracks: a thread's own, then those of its device reads, far beyond any thread's
// (PID_MAX_LIMIT, include/linux/threads.h).
constexpr std::uint64_t kNextLane = 1 << 23;
// In place of 0, which Perfetto takes for the kernel's idle threads.
constexpr std::uint64_t kNotKnown = (1 << 22) + 1;

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string microseconds(std::uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

// Where the device reads of one thread go: on the first track that is free again.
class Lanes {
public:
  std::size_t place(const LoggedEvent& event) {
    auto free = std::ranges::find_if(ends_, [&](std::uint64_t end) { return end <= event.begin_ns; });
    const auto lane = static_cast<std::size_t>(free - ends_.begin());
    if (free == ends_.end()) ends_.push_back(0);
    ends_[lane] = event.begin_ns + event.duration_ns;
    return lane;
  }

private:
  std::vector<std::uint64_t> ends_;
};

class Timeline {
public:
  void add_process(std::uint64_t pid, const std::string& name) {
    lines_.push_back(fmt::format(
        R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", pid, quoted(name)));
  }

  // A frame over the whole, so that a window in which nothing happened is seen as one.
  void add_window(std::uint64_t pid, double seconds, Count dropped) {
    lines_.push_back(fmt::format(
        R"({{"ph":"i","s":"p","name":"window of {} s ends; {} later events dropped","cat":"window","pid":{},"tid":0,"ts":{}}})",
        seconds, dropped, pid, microseconds(static_cast<std::uint64_t>(seconds * 1e9))));
  }

  // In order of their beginnings, the longer first.
  void add(std::uint64_t pid, const LoggedEvent& event) {
    std::uint64_t track = event.tid ? event.tid : kNotKnown;
    std::string name = event.tid ? event.thread : "asker not known";
    if (event.kind == "device") {
      const std::size_t lane = lanes_[{pid, track}].place(event) + 1;
      track += lane * kNextLane;
      name = fmt::format("{} device {}", name, lane);
    }
    name_track(pid, track, name);
    Json details = Json::object();
    if (event.file) details["file"] = *event.file;
    if (event.offset_bytes) details["offset_bytes"] = *event.offset_bytes;
    if (event.bytes) details["bytes"] = *event.bytes;
    if (event.error) details["errno"] = *event.error;
    lines_.push_back(
        fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
                    quoted(fmt::format("{} {}", event.kind, event.what)), quoted(event.kind), pid, track,
                    microseconds(event.begin_ns), microseconds(event.duration_ns),
                    details.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }

  std::string text() const {
    return fmt::format("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", fmt::join(lines_, ",\n"));
  }

private:
  // At its first event: tracks stand in the order in which their threads came, device reads below them.
  void name_track(std::uint64_t pid, std::uint64_t track, const std::string& name) {
    if (!named_.insert({pid, track}).second) return;
    const auto thread =
        threads_.try_emplace(std::pair(pid, track % kNextLane), threads_.size()).first->second;
    lines_.push_back(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid, track,
                    quoted(name)));
    lines_.push_back(
        fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                    pid, track, thread * 1000 + std::min<std::uint64_t>(track / kNextLane, 999)));
  }

  using Track = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<std::string> lines_;
  std::map<Track, Lanes> lanes_;
  std::set<Track> named_;
  std::map<Track, std::size_t> threads_;
};

std::vector<LoggedEvent> in_order(std::vector<LoggedEvent> events) {
  std::ranges::stable_sort(events, [](const LoggedEvent& a, const LoggedEvent& b) {
    return std::tuple(a.begin_ns, b.duration_ns) < std::tuple(b.begin_ns, a.duration_ns);
  });
  return events;
}

void add_watch(Timeline& timeline, const RunRecord& record) {
  const Totals& totals = *record.totals;
  std::map<std::uint64_t, std::string> names;
  if (record.target)
    for (const WatchedProcess& process : record.target->processes) names[process.pid] = process.name;
  for (const LoggedEvent& event : *totals.events)
    names.try_emplace(event.pid ? event.pid : kNotKnown, event.pid ? "" : "asker not known");
  for (const auto& [pid, name] : names) timeline.add_process(pid, name);
  if (!names.empty())
    timeline.add_window(names.begin()->first, totals.events_window_s.value_or(0),
                        totals.events_dropped.value_or(0));
  for (const LoggedEvent& event : in_order(*totals.events))
    timeline.add(event.pid ? event.pid : kNotKnown, event);
}

std::string render_trace(const RunRecord& record, const ReportOptions&) {
  Timeline timeline;
  if (record.totals && record.totals->events) add_watch(timeline, record);
  std::uint64_t number = 0;
  for (const Row& row : record.rows) {
    ++number;
    if (!row.events) continue;
    timeline.add_process(number, fmt::format("{} {} {} T{:02}", wording::row_name(row), row.case_name,
                                             row.pattern, row.threads));
    timeline.add_window(number, row.events_window_s.value_or(0), row.events_dropped.value_or(0));
    for (const LoggedEvent& event : in_order(*row.events)) timeline.add(number, event);
  }
  return timeline.text();
}

Status has_events(const RunRecord& record) {
  bool found = record.totals && record.totals->events;
  for (const Row& row : record.rows) found = found || row.events;
  return found ? Status()
               : usage_error("format trace: the record holds no events; measure again with --window 2s");
}

}

extern const ReportFormat trace_report;
const ReportFormat trace_report{
    "trace", "single events on a timeline, for Perfetto", render_trace, false, ".trace.json", has_events};

}
