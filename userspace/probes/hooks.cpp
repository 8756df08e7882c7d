#include "userspace/probes/hooks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace iotrace {

namespace {

using Event = HookProgram::Event;

HookProgram tracepoint(std::string_view program, const char* name, int arguments) {
  return {program, Event::kTracepoint, name, arguments, arguments};
}

HookProgram tracepoint(std::string_view program, const char* name, std::vector<std::string_view> types) {
  int arguments = static_cast<int>(types.size());
  return {program, Event::kTracepoint, name, arguments, arguments, std::move(types)};
}

// For a program that reads the first argument alone, which all layouts share.
HookProgram tracepoint(std::string_view program, const char* name, int least, int most) {
  return {program, Event::kTracepoint, name, least, most};
}

HookProgram function(std::string_view program, const char* name, std::vector<std::string_view> types) {
  int arguments = static_cast<int>(types.size());
  return {program, Event::kFunction, name, arguments, arguments, std::move(types)};
}

constexpr std::string_view kPageByPage =
    "each page that a fault maps is an event of its own on this kernel (before 6.6)";

constexpr std::string_view kPathOfMemcg =
    "each of its events costs the path of a memory cgroup on this kernel (before 6.14)";

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
      {HookId::kUring,
       "io_uring completions",
       {{"tp_btf", {tracepoint("on_operation_completed__tp_btf", "io_uring_complete", 3)}},
        {"tp_btf", {tracepoint("on_operation_completed_result__tp_btf", "io_uring_complete", 7)}}}},
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
      // The tracepoints stand in the functions: the same events, cheaper.
      {HookId::kFaultPasses,
       "passes of a fault",
       {{"tp_btf", {tracepoint("on_file_asked__tp_btf", "mm_filemap_fault", {"address_space *", "64 bits"})}},
        {"raw_tp", {tracepoint("on_file_asked__raw_tp", "mm_filemap_fault", {"address_space *", "64 bits"})}},
        {"fentry", {function("on_file_asked__fentry", "filemap_fault", {"vm_fault *"})}}}},
      {HookId::kFaultAround,
       "fault-around",
       {{"tp_btf",
         {tracepoint("on_around__tp_btf", "mm_filemap_map_pages",
                     {"address_space *", "64 bits", "64 bits"})}},
        {"raw_tp",
         {tracepoint("on_around__raw_tp", "mm_filemap_map_pages",
                     {"address_space *", "64 bits", "64 bits"})}},
        {"fentry",
         {function("on_around__fentry", "filemap_map_pages", {"vm_fault *", "64 bits", "64 bits"})}}}},
      {HookId::kFaultMapped,
       "pages mapped by faults",
       {{"fentry",
         {function("on_pages_mapped__fentry", "set_pte_range",
                   {"vm_fault *", "folio *", "page *", "32 bits", "64 bits"})}},
        {"fentry",
         {function("on_page_mapped__fentry", "do_set_pte", {"vm_fault *", "page *", "64 bits"})},
         kPageByPage}}},
      {HookId::kPageCache,
       "page cache",
       {{"tp_btf",
         {tracepoint("on_page_added__tp_btf", "mm_filemap_add_to_page_cache", 1),
          tracepoint("on_page_removed__tp_btf", "mm_filemap_delete_from_page_cache", 1)}},
        {"raw_tp",
         {tracepoint("on_page_added__raw_tp", "mm_filemap_add_to_page_cache", 1),
          tracepoint("on_page_removed__raw_tp", "mm_filemap_delete_from_page_cache", 1)}}}},
      {HookId::kReadahead,
       "readahead windows",
       {{"tp_btf",
         {tracepoint("on_readahead_mark__tp_btf", "page_cache_async_ra", 4),
          tracepoint("on_readahead_window__tp_btf", "page_cache_ra_order", 3)}},
        {"fentry",
         {function("on_readahead_mark__fentry", "page_cache_async_ra",
                   {"readahead_control *", "folio *", "64 bits"}),
          function("on_readahead_window__fentry", "page_cache_ra_order",
                   {"readahead_control *", "file_ra_state *", "32 bits"})}}}},
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
         kPathOfMemcg},
        {"raw_tp",
         {tracepoint("on_lock_asked__raw_tp", "mmap_lock_start_locking", 2, 3),
          tracepoint("on_lock_answered__raw_tp", "mmap_lock_acquire_returned", 3),
          tracepoint("on_lock_released__raw_tp", "mmap_lock_released", 2, 3)}},
        {"raw_tp",
         {tracepoint("on_lock_asked__raw_tp", "mmap_lock_start_locking", 2, 3),
          tracepoint("on_lock_answered_memcg__raw_tp", "mmap_lock_acquire_returned", 4),
          tracepoint("on_lock_released__raw_tp", "mmap_lock_released", 2, 3)},
         kPathOfMemcg}}},
      {HookId::kLockContention,
       "lock contention",
       {{"tp_btf", {tracepoint("on_lock_contended__tp_btf", "contention_begin", {"void *", "32 bits"})}},
        {"raw_tp", {tracepoint("on_lock_contended__raw_tp", "contention_begin", {"void *", "32 bits"})}}}},
      {HookId::kBlockIo,
       "block requests",
       {{"tp_btf",
         {tracepoint("on_request_issued__tp_btf", "block_rq_issue", 1),
          tracepoint("on_request_completed__tp_btf", "block_rq_complete", 3),
          tracepoint("on_bio_queued__tp_btf", "block_bio_queue", 1)}}}},
      {HookId::kReclaim,
       "direct reclaim",
       {{"tp_btf",
         {tracepoint("on_reclaim_begins__tp_btf", "mm_vmscan_direct_reclaim_begin", 2),
          tracepoint("on_reclaim_ends__tp_btf", "mm_vmscan_direct_reclaim_end", 1),
          tracepoint("on_memcg_reclaim_begins__tp_btf", "mm_vmscan_memcg_reclaim_begin", 2),
          tracepoint("on_memcg_reclaim_ends__tp_btf", "mm_vmscan_memcg_reclaim_end", 1)}},
        {"tp_btf",  // a kernel without memory cgroups
         {tracepoint("on_reclaim_begins__tp_btf", "mm_vmscan_direct_reclaim_begin", 2),
          tracepoint("on_reclaim_ends__tp_btf", "mm_vmscan_direct_reclaim_end", 1)}}}},
      {HookId::kTlb, "TLB flushes", {{"tp_btf", {tracepoint("on_tlb_flush__tp_btf", "tlb_flush", 2)}}}},
      {HookId::kSwap, "swap-in", {{"tp_btf", {tracepoint("on_swap_in__tp_btf", "block_bio_queue", 1)}}}},
      {HookId::kFork,
       "forks of a target",
       {{"tp_btf",
         {tracepoint("on_fork__tp_btf", "sched_process_fork", {"task_struct *", "task_struct *"})}}}},
      {HookId::kExit,
       "ends of a target",
       {{"tp_btf", {tracepoint("on_exit__tp_btf", "sched_process_exit", 1, 2)}}}},
      {HookId::kSleeps,
       "sleeps in faults",
       {{"tp_btf",
         {tracepoint("on_sleep__tp_btf", "sched_switch",
                     {"8 bits", "task_struct *", "task_struct *", "32 bits"})}}}},
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
  if (chosen && !chosen->dear.empty()) parts.emplace_back(chosen->dear);
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
