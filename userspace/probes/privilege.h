#pragma once
// Whether this process may load and attach tracing programs.

#include "analysis/result.h"

namespace iotrace {

// errors   unsupported: neither CAP_SYS_ADMIN nor both CAP_BPF and CAP_PERFMON are effective
Status may_trace();

}
