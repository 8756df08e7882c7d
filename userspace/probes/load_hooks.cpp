#include "userspace/probes/load_hooks.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "analysis/spared_probes.h"
#include "userspace/probes/attachments.h"
#include "userspace/probes/calls.h"
#include "userspace/probes/event_ring.h"
#include "userspace/probes/hook_targets.h"
#include "userspace/probes/libbpf_messages.h"
#include "userspace/probes/page_ledger.h"
#include "userspace/probes/stack_maps.h"
#include "userspace/probes/watch_maps.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

constexpr std::string_view kFileIterator = "on_open_file__iter";
constexpr std::string_view kFilesIterators[] = {"on_mapping__iter", "on_descriptor__iter"};

// The coarse clocks advance with the kernel's tick: their resolution is its length.
__u64 tick_ns() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return static_cast<__u64>(tick.tv_sec) * 1'000'000'000 + static_cast<__u64>(tick.tv_nsec);
}

config configuration(const HookStates& states, const KernelBtf& kernel, const Followed& what) {
  config made{};
  made.page_shift = static_cast<__u32>(std::countr_zero(static_cast<unsigned long>(sysconf(_SC_PAGESIZE))));
  made.waited_needs_major = !states.works(HookId::kMmapLock) && !kernel.has_per_vma_locks();
  made.iter_tgid = static_cast<__u32>(getpid());
  made.iter_fd = static_cast<__u32>(what.file_fd);
  made.many = what.many;
  made.stacks = what.logs.stacks;
  made.window_ns = what.logs.window_ns;
  made.tick_ns = tick_ns();
  for (__u8& call : made.calls) call = CALL_OTHER;
  for (const FollowedCall& followed : followed_calls()) made.calls[followed.number] = followed.call;
  return made;
}

void enable(BpfObject& object, const Variant& variant) {
  for (const HookProgram& program : variant.programs) object.enable(program.name);
}

// What attach and the logs need more than a run.
void make_room(const BpfObject& object, const config& configuration) {
  if (configuration.many) make_room_for_attach(object);
  if (configuration.stacks) make_room_for_stacks(object);
  if (configuration.window_ns) make_room_for_events(object);
}

void leave_out(HookState& state, const Variant& dear) {
  state.refusals.clear();
  state.give_up(fmt::format("{} {}, also for threads that are not watched", kLeftOut, dear.dear));
}

// Loads each hook's variant by itself and gives up those that are refused. True: there was one.
bool refuse_culprits(HookStates& states, const config& configuration, __u32 ledger_chunks) {
  bool found = false;
  for (HookState& state : states) {
    if (!state.variant()) continue;
    Result<BpfObject> alone = BpfObject::open(configuration, ledger_chunks);
    if (!alone) return found;
    make_room(*alone, configuration);
    enable(*alone, *state.variant());
    if (Status loaded = alone->load(); !loaded) {
      state.refuse(loaded.error().message);
      found = true;
    }
  }
  return found;
}

// Attaches everything and gives up what does not. True: all did.
bool all_attach(HookStates& states, const BpfObject& object, std::array<Attachments, kHooks>& attachments) {
  bool all = true;
  for (HookState& state : states) {
    if (!state.variant()) continue;
    Attachments& own = attachments[static_cast<std::size_t>(state.hook->id)];
    if (Status attached = own.attach(object, *state.variant()); !attached) {
      state.refuse(attached.error().message);
      all = false;
    }
  }
  return all;
}

// Runs the iterator over this process's descriptors. "" when it found the file.
std::string find_mapping(const BpfObject& object) {
  LibbpfMessages silence;
  bpf_iter_link_info scope{};
  scope.task.pid = static_cast<__u32>(getpid());
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &scope, .link_info_len = sizeof(scope));
  Link link(bpf_program__attach_iter(object.program(kFileIterator), &options));
  // Before 6.1 the walk can't be limited to one process.
  if (!link) link.reset(bpf_program__attach_iter(object.program(kFileIterator), nullptr));
  if (!link) return errno_error("find the file's address_space (attach iter/task_file)", errno).message;
  UniqueFd walk(bpf_iter_create(bpf_link__fd(link.get())));
  if (!walk) return errno_error("find the file's address_space (start iter/task_file)", errno).message;
  char nothing[64];
  while (::read(walk.get(), nothing, sizeof(nothing)) > 0) {
  }
  if (object.followed_mapping() == 0)
    return "find the file's address_space: iter/task_file did not meet the descriptor; in a PID namespace of "
           "its own iotrace can't follow a file";
  return {};
}

}

Result<LoadedHooks> load_hooks(HookStates states, const KernelBtf& kernel, const Followed& what) {
  states[HookId::kSleeps].wanted = what.logs.stacks;
  HookTargets targets(kernel);
  for (HookState& state : states) {
    while (const Variant* variant = state.variant()) {
      std::string why = targets.mismatch(*variant);
      if (why.empty()) {
        if (!variant->dear.empty() && !state.wanted_if_dear) leave_out(state, *variant);
        break;
      }
      state.refuse(std::move(why));
    }
  }

  const __u32 chunks = what.many ? 1 : ledger_size(what.file_fd).chunks;
  bool mapping_paths = what.many;
  std::string no_mapping;  // why the file's pages can't be told from others, "" where they can
  for (;;) {
    config made = configuration(states, kernel, what);
    made.mapping_paths = mapping_paths;
    Result<BpfObject> object = BpfObject::open(made, chunks);
    if (!object) return object.error();
    for (const HookState& state : states)
      if (const Variant* variant = state.variant()) enable(*object, *variant);
    make_room(*object, made);
    if (what.many) {
      for (std::string_view iterator : kFilesIterators) object->enable(iterator);
    } else if (no_mapping.empty()) {
      object->enable(kFileIterator);
    }

    if (Status loaded = object->load(); !loaded) {
      if (std::exchange(mapping_paths, false)) continue;
      if (refuse_culprits(states, made, chunks)) {
        mapping_paths = what.many;
        continue;
      }
      if (!no_mapping.empty()) return loaded.error();
      no_mapping = "find the file's address_space: " + loaded.error().message;
      continue;
    }
    std::array<Attachments, kHooks> attachments;
    if (!all_attach(states, *object, attachments)) continue;
    if (what.many)
      return LoadedHooks{std::move(*object), std::move(states), std::move(attachments), mapping_paths};
    if (no_mapping.empty()) no_mapping = find_mapping(*object);
    if (!no_mapping.empty())
      for (HookId id : {HookId::kPageCache, HookId::kReadahead, HookId::kBlockIo})
        states[id].give_up(no_mapping);
    return LoadedHooks{std::move(*object), std::move(states), {}, false};
  }
}

}
