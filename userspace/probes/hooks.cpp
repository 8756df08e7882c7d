#include "userspace/probes/hooks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace iotrace {

namespace {

using Event = HookProgram::Event;

HookProgram tracepoint(std::string_view program, const char* name, int arguments) {
  return {program, Event::kTracepoint, name, arguments, arguments};
}

// For a program that reads the first argument alone, which all layouts share.
HookProgram tracepoint(std::string_view program, const char* name, int least, int most) {
  return {program, Event::kTracepoint, name, least, most};
}

constexpr std::string_view kMemcgNote = "each of its events costs the path of a memory cgroup on this "
                                        "kernel (before 6.14): measured in repetitions of its own";

}

const std::array<Hook, kHooks>& hooks() {
  static const std::array<Hook, kHooks> all = {{
      {HookId::kSyscalls,
       "system calls",
       {{"tp_btf",
         {tracepoint("on_call_enters__tp_btf", "sys_enter", 2),
          tracepoint("on_call_exits__tp_btf", "sys_exit", 2)}},
        {"raw_tp",
         {tracepoint("on_call_enters__raw_tp", "sys_enter", 2),
          tracepoint("on_call_exits__raw_tp", "sys_exit", 2)}}}},
      {HookId::kUring, "io_uring completions", {}},
      {HookId::kFaultStart,
       "fault start",
       {{"tp_btf",
         {tracepoint("on_user_fault__tp_btf", "page_fault_user", 3),
          tracepoint("on_kernel_fault__tp_btf", "page_fault_kernel", 3)}},
        {"raw_tp",
         {tracepoint("on_user_fault__raw_tp", "page_fault_user", 3),
          tracepoint("on_kernel_fault__raw_tp", "page_fault_kernel", 3)}},
        {"perf", {{"on_fault__perf", Event::kPerfFaults}}}}},
      {HookId::kFaultEnd,
       "fault end",
       {{"perf",
         {{"on_minor_fault__perf", Event::kPerfMinorFaults},
          {"on_major_fault__perf", Event::kPerfMajorFaults}}}}},
      {HookId::kFaultPasses, "passes of a fault", {}},
      {HookId::kFaultAround, "fault-around", {}},
      {HookId::kPageCache,
       "page cache",
       {{"tp_btf",
         {tracepoint("on_page_added__tp_btf", "mm_filemap_add_to_page_cache", 1),
          tracepoint("on_page_removed__tp_btf", "mm_filemap_delete_from_page_cache", 1)}},
        {"raw_tp",
         {tracepoint("on_page_added__raw_tp", "mm_filemap_add_to_page_cache", 1),
          tracepoint("on_page_removed__raw_tp", "mm_filemap_delete_from_page_cache", 1)}}}},
      {HookId::kReadahead, "readahead windows", {}},
      {HookId::kMmapLock,
       "mmap_lock",
       {{"tp_btf",
         {tracepoint("on_lock_asked__tp_btf", "mmap_lock_start_locking", 2, 3),
          tracepoint("on_lock_answered__tp_btf", "mmap_lock_acquire_returned", 3),
          tracepoint("on_lock_released__tp_btf", "mmap_lock_released", 2, 3)}},
        {"tp_btf",
         {tracepoint("on_lock_asked__tp_btf", "mmap_lock_start_locking", 2, 3),
          tracepoint("on_lock_answered_memcg__tp_btf", "mmap_lock_acquire_returned", 4),
          tracepoint("on_lock_released__tp_btf", "mmap_lock_released", 2, 3)},
         kMemcgNote,
         true},
        {"raw_tp",
         {tracepoint("on_lock_asked__raw_tp", "mmap_lock_start_locking", 2, 3),
          tracepoint("on_lock_answered__raw_tp", "mmap_lock_acquire_returned", 3),
          tracepoint("on_lock_released__raw_tp", "mmap_lock_released", 2, 3)}},
        {"raw_tp",
         {tracepoint("on_lock_asked__raw_tp", "mmap_lock_start_locking", 2, 3),
          tracepoint("on_lock_answered_memcg__raw_tp", "mmap_lock_acquire_returned", 4),
          tracepoint("on_lock_released__raw_tp", "mmap_lock_released", 2, 3)},
         kMemcgNote,
         true}}},
      {HookId::kLockContention, "lock contention", {}},
      {HookId::kBlockIo, "block requests", {}},
      {HookId::kReclaim, "direct reclaim", {}},
      {HookId::kTlb, "TLB flushes", {}},
      {HookId::kSwap, "swap-in", {}},
  }};
  return all;
}

std::optional<std::string> HookState::reason() const {
  const Variant* chosen = variant();
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    std::string_view refused = hook->variants[i].name;
    // The same way for another layout of the arguments is no worse.
    if (!chosen || chosen->name != refused) parts.push_back(fmt::format("{}: {}", refused, refusals[i]));
  }
  if (!given_up.empty()) parts.push_back(given_up);
  if (chosen && !chosen->note.empty()) parts.emplace_back(chosen->note);
  if (parts.empty()) return std::nullopt;
  return fmt::format("{}: {}", hook->name, fmt::join(parts, "; "));
}

HookStates::HookStates() {
  for (const Hook& hook : hooks()) (*this)[hook.id].hook = &hook;
}

std::string HookStates::why_not(HookId id) const {
  const HookState& state = (*this)[id];
  if (!state.wanted) return fmt::format("{}: not asked for", state.hook->name);
  return state.reason().value_or(fmt::format("{}: not attached", state.hook->name));
}

}
