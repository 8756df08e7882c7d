#pragma once
// The log of --window (bpf/log_contract.h): sized, begun, read, and put into the terms of the record.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/log_record.h"
#include "analysis/result.h"
#include "bpf/log_contract.h"
#include "userspace/probes/bpf_object.h"
#include "userspace/probes/probe_set.h"

namespace iotrace {

// Before loading: gives the ring its room.
void make_room_for_events(const BpfObject& object);

// Length of the window.
inline double seconds_of(const Logs& logs) {
  return static_cast<double>(logs.window_ns) / 1e9;
}

// Empties the log; the window begins now.
Status begin_events(const BpfObject& object);

// What is in the log, which is empty afterwards. To be called when the events are over.
Result<std::vector<event>> take_events(const BpfObject& object);

// Where an event was.
struct EventPlace {
  std::optional<std::string> file;
  std::optional<std::uint64_t> offset_bytes;
};

// Raw events by their beginning.
//   begin_ns  of the window, CLOCK_MONOTONIC
//   place_of  from address_space and offset, or process and address
std::vector<LoggedEvent> logged_events(std::vector<event> events, std::uint64_t begin_ns,
                                       const std::function<EventPlace(const event&)>& place_of);

}
