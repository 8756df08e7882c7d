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

}
