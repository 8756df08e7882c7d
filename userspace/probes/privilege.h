#pragma once
// Whether this process may load and attach tracing programs.

#include "analysis/result.h"

namespace iotrace {

// errors   unsupported, with the names of those that are missing: neither CAP_SYS_ADMIN nor both CAP_BPF and
//          CAP_PERFMON are effective
Status may_trace();

// And look at processes that are somebody else's: CAP_SYS_PTRACE for what they run and whether an exec
// replaced it (/proc/PID/exe, and where its arguments lie), CAP_DAC_READ_SEARCH for cgroups and folders that
// are closed to others.
Status may_attach();

}
