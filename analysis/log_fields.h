#pragma once
// The JSON keys of what --stacks and --window log: the part of record_fields.h, which explains the lists.

#include "analysis/counter_fields.h"
#include "analysis/log_record.h"

namespace iotrace {

void fields(auto& field, Of<FaultStack> auto& stack) {
  field("thread", stack.thread);
  field("user", stack.user);
  field("kernel", stack.kernel);
  field("faults", stack.faults);
  field("wait_ns", stack.wait_ns);
}

void fields(auto& field, Of<StackDrops> auto& drops) {
  field("faults", drops.faults);
  field("wait_ns", drops.wait_ns);
}

void fields(auto& field, Of<LoggedEvent> auto& event) {
  field("kind", event.kind);
  field("what", event.what);
  field("pid", event.pid);
  field("tid", event.tid);
  field("thread", event.thread);
  field("file", event.file);
  field("offset_bytes", event.offset_bytes);
  field("bytes", event.bytes);
  field("errno", event.error);
  field("begin_ns", event.begin_ns);
  field("duration_ns", event.duration_ns);
}

}
