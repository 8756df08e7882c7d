// Hints given through io_uring: their results stand in completions, not in system calls (bpf/uring.bpf.c).

#include <algorithm>

#include "userspace/probes/calls.h"
#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

// Finds the entry with this name and error, or makes one. Entry: SyscallCount, MadviseCount.
template<typename Entry>
Entry& entry_of(std::vector<Entry>& entries, std::string Entry::*name, const std::string& wanted,
                const std::optional<std::string>& error) {
  auto known = std::ranges::find_if(
      entries, [&](const Entry& entry) { return entry.*name == wanted && entry.error == error; });
  if (known != entries.end()) return *known;
  Entry& made = entries.emplace_back();
  made.*name = wanted;
  made.error = error;
  return made;
}

}

void add_uring_hints(const Counted& in_window, ProbeReadings& readings) {
  for (const CallResult& result : in_window.sums.results) {
    const bool madvise = result.key.call == CALL_URING_MADVISE;
    if (!madvise && result.key.call != CALL_URING_FADVISE) continue;
    std::optional<std::string> error;
    if (result.key.error) error = errno_name(static_cast<int>(result.key.error));

    const char* name = madvise ? "io_uring madvise" : "io_uring fadvise";
    entry_of(*readings.syscalls, &SyscallCount::name, name, error).calls += result.count.calls;
    if (!madvise) continue;
    MadviseCount& advised =
        entry_of(*readings.madvise, &MadviseCount::advice, advice_name(result.key.advice), error);
    advised.calls += result.count.calls;
    advised.misaligned += result.count.misaligned;
    advised.requested_bytes += result.count.requested_bytes;
  }
}

}
