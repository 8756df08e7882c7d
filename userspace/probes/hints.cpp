// What became of the hints: calls from the syscalls probe, pages from the page_cache probe.

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "userspace/probes/probe.h"

namespace iotrace {

namespace {

bool is_hint(const result_key& key) {
  switch (key.call) {
  case CALL_MADVISE:
  case CALL_PROCESS_MADVISE:
  case CALL_URING_MADVISE: return key.advice == MADV_WILLNEED;
  case CALL_FADVISE64:
  case CALL_URING_FADVISE: return key.advice == POSIX_FADV_WILLNEED;
  case CALL_READAHEAD: return true;
  default: return false;
  }
}

void count_calls(const Sums& sums, Hints& hints) {
  hints.issued = sums.totals.syscalls.succeeded[CALL_READAHEAD];
  hints.rejected = 0;
  for (const CallResult& result : sums.results) {
    if (!is_hint(result.key)) continue;
    *hints.issued += result.count.calls;
    if (result.key.error) *hints.rejected += result.count.calls;
  }
}

// Why hints can't be called late, "" where they can: what waited must be seen.
std::string no_lateness(const HookStates& states) {
  for (HookId needed : {HookId::kFaultStart, HookId::kFaultEnd, HookId::kSyscalls})
    if (!states.works(needed)) return states.why_not(needed);
  return {};
}

// Sets a number, or says why it can't be had.
void set(std::optional<Count>& number, const char* key, Count value, const std::string& why_not,
         ProbeReadings& readings) {
  if (why_not.empty())
    number = value;
  else
    readings.unavailable[key] = why_not;
}

}

// Of the pages that hints brought: late are those that a thread had to wait for, useless those that nobody
// used, in time the rest. A page that came with the one that was waited for counts as in time.
void read_hints(const Counted& counted, bool marks_withheld, ProbeReadings& readings) {
  const auto& [sums, states, tgid] = counted;
  if (!readings.syscalls && !readings.page_cache) {
    readings.unavailable["hints"] = states.why_not(HookId::kSyscalls);
    return;
  }
  Hints& hints = readings.hints.emplace();
  const std::string no_calls = readings.syscalls ? "" : states.why_not(HookId::kSyscalls);
  const std::string no_pages = readings.page_cache ? "" : "the probe page_cache is off";
  const std::string no_returns = no_pages.empty() ? no_calls : no_pages;
  const std::string no_waits = no_pages.empty() ? no_lateness(states) : no_pages;

  if (readings.syscalls)
    count_calls(sums, hints);
  else
    for (const char* key : {"hints.issued", "hints.rejected"}) readings.unavailable[key] = no_calls;

  const hint_counters& pages = sums.totals.hints;
  const Count used = sums.pages.used[PAGE_BY_HINT];
  set(hints.useless_pages, "hints.useless_pages", sums.pages.wasted[PAGE_BY_HINT], no_pages, readings);
  set(hints.needless_pages, "hints.needless_pages", pages.needless, no_returns, readings);
  set(hints.truncated_pages, "hints.truncated_pages", pages.truncated, no_returns, readings);
  set(hints.late_pages, "hints.late_pages", pages.late, no_waits, readings);
  set(hints.in_time_pages, "hints.in_time_pages", used - std::min<Count>(used, pages.late), no_waits,
      readings);
  // What a strategy withholds never reaches the kernel: the worker counts it, and marks its pages.
  set(hints.suppressed_absent_pages, "hints.suppressed_absent_pages", pages.withheld,
      !no_pages.empty() || marks_withheld ? no_pages : "no hint is withheld, or none is marked so", readings);
}

}
