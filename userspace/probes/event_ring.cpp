#include "userspace/probes/event_ring.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include <fmt/format.h>

#include "userspace/probes/calls.h"

namespace iotrace {

namespace {

struct FreeRing {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

int keep_event(void* events, void* data, std::size_t size) {
  if (size < sizeof(event)) return 0;
  event& one = static_cast<std::vector<event>*>(events)->emplace_back();
  std::memcpy(&one, data, sizeof(one));
  return 0;
}

std::string call_name(__u8 call) {
  for (const FollowedCall& followed : followed_calls())
    if (followed.call == call) return std::string(followed.name);
  return fmt::format("call {}", call);
}

std::string_view kind_of(const event& event) {
  switch (event.kind) {
  case EVENT_FAULT: return "fault";
  case EVENT_HINT: return "hint";
  case EVENT_READ: return "read";
  default: return "device";
  }
}

std::string what_of(const event& event) {
  if (event.kind == EVENT_DEVICE) return "read";
  if (event.kind != EVENT_FAULT)
    return event.advice == NO_ADVICE
               ? call_name(event.detail)
               : fmt::format("{} {}", call_name(event.detail), advice_name(event.advice));
  return event.detail == FAULT_MAPPED ? "mapped" : event.detail == FAULT_WAITED ? "waited" : "read";
}

}

void make_room_for_events(const BpfObject& object) {
  bpf_map__set_max_entries(object.map("events"), EVENT_ROOM);
  bpf_map__set_max_entries(object.map("askers"), MOST_ASKERS);
}

Status begin_events(const BpfObject& object) {
  if (auto old = take_events(object); !old) return old.error();
  object.events_dropped() = 0;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  object.window_begins() = static_cast<__u64>(now.tv_sec) * 1'000'000'000 + static_cast<__u64>(now.tv_nsec);
  return {};
}

Result<std::vector<event>> take_events(const BpfObject& object) {
  std::vector<event> events;
  std::unique_ptr<ring_buffer, FreeRing> ring(
      ring_buffer__new(bpf_map__fd(object.map("events")), keep_event, &events, nullptr));
  if (!ring) return errno_error("map the log of events", errno);
  if (int taken = ring_buffer__consume(ring.get()); taken < 0)
    return errno_error("read the log of events", -taken);
  return events;
}

std::vector<LoggedEvent> logged_events(std::vector<event> events, std::uint64_t begin_ns,
                                       const std::function<EventPlace(const event&)>& place_of) {
  std::ranges::stable_sort(events, {}, &event::begin_ns);
  std::vector<LoggedEvent> logged;
  logged.reserve(events.size());
  for (const event& event : events) {
    LoggedEvent& one = logged.emplace_back();
    one.kind = kind_of(event);
    one.what = what_of(event);
    one.pid = event.tgid;
    one.tid = event.tid;
    one.thread = std::string(event.thread, strnlen(event.thread, sizeof(event.thread)));
    EventPlace place = place_of(event);
    one.file = std::move(place.file);
    one.offset_bytes = place.offset_bytes;
    one.bytes = event.bytes;
    if (event.error) one.error = errno_name(event.error);
    one.begin_ns = event.begin_ns - begin_ns;
    // One that ended before it began, by the clocks of two CPUs, took no time.
    one.duration_ns = static_cast<std::int64_t>(event.duration_ns) > 0 ? event.duration_ns : 0;
  }
  return logged;
}

}
