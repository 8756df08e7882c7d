// What became of the hints: calls from the syscalls probe, pages from the page_cache probe.

#include <fcntl.h>
#include <sys/mman.h>

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

}

void read_hints(const Counted& counted, ProbeReadings& readings) {
  if (!readings.syscalls && !readings.page_cache) {
    readings.unavailable["hints"] = counted.states.why_not(HookId::kSyscalls);
    return;
  }
  Hints& hints = readings.hints.emplace();
  if (readings.syscalls)
    count_calls(counted.sums, hints);
  else
    for (const char* key : {"hints.issued", "hints.rejected"})
      readings.unavailable[key] = counted.states.why_not(HookId::kSyscalls);
  if (readings.page_cache)
    hints.useless_pages = counted.sums.pages.wasted[PAGE_BY_HINT];
  else
    readings.unavailable["hints.useless_pages"] = "the probe page_cache is off";
  // What a strategy suppresses never reaches the kernel: the worker counts it.
  for (const char* key :
       {"hints.in_time_pages", "hints.late_pages", "hints.needless_pages", "hints.truncated_pages"})
    readings.unavailable[key] = kNotCounted;
}

}
