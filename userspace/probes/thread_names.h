#pragma once
// Names of the target's threads, as long as it lives.

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace iotrace {

// The name of a thread of the target; its number ("thread 4711") where it has ended.
std::string thread_name(pid_t tgid, std::uint32_t tid);

}
