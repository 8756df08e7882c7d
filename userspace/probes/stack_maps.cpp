#include "userspace/probes/stack_maps.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bpf/log_contract.h"

namespace iotrace {

namespace {

template<typename Key> std::vector<Key> keys_of(const BpfObject& object, const char* map) {
  std::vector<Key> keys;
  const int fd = bpf_map__fd(object.map(map));
  Key next{};
  while (bpf_map_get_next_key(fd, keys.empty() ? nullptr : &keys.back(), &next) == 0) keys.push_back(next);
  return keys;
}

std::vector<std::uint64_t> addresses_of(const BpfObject& object, __s32 id) {
  std::array<__u64, STACK_DEPTH> addresses{};
  if (id == NO_STACK || bpf_map_lookup_elem(bpf_map__fd(object.map("stacks")), &id, addresses.data()) != 0)
    return {};
  return {addresses.begin(), std::ranges::find(addresses, 0u)};
}

}

void make_room_for_stacks(const BpfObject& object) {
  bpf_map__set_max_entries(object.map("stacks"), MOST_STACKS);
  bpf_map__set_max_entries(object.map("stack_waits"), MOST_STACK_WAITS);
  bpf_map__set_max_entries(object.map("fault_sleeps"), STACK_THREAD_SLOTS);
}

std::set<pid_t> processes_with_stacks(const BpfObject& object) {
  std::set<pid_t> tgids;
  for (const stack_key& key : keys_of<stack_key>(object, "stack_waits"))
    tgids.insert(static_cast<pid_t>(key.tgid));
  return tgids;
}

std::vector<CountedStack> read_stacks(const BpfObject& object) {
  std::vector<CountedStack> stacks;
  const int waits = bpf_map__fd(object.map("stack_waits"));
  for (const stack_key& key : keys_of<stack_key>(object, "stack_waits")) {
    stack_wait sum{};
    if (bpf_map_lookup_elem(waits, &key, &sum) != 0) continue;
    stacks.push_back({.tgid = static_cast<pid_t>(key.tgid),
                      .thread = std::string(key.thread, strnlen(key.thread, sizeof(key.thread))),
                      .user = addresses_of(object, key.user),
                      .kernel = addresses_of(object, key.kernel),
                      .faults = sum.faults,
                      .wait_ns = sum.wait_ns});
  }
  return stacks;
}

bool stacks_are_kept(const HookStates& states, std::map<std::string, std::string>& unavailable) {
  for (HookId id : {HookId::kFaultStart, HookId::kFaultEnd})
    if (!states.works(id)) {
      unavailable["stacks"] = states.why_not(id);
      return false;
    }
  if (!states.works(HookId::kSleeps)) unavailable["stacks.kernel"] = states.why_not(HookId::kSleeps);
  return true;
}

StackDrops read_stack_drops(const BpfObject& object) {
  const stack_wait& dropped = object.stacks_dropped();
  return {dropped.faults, dropped.wait_ns};
}

void clear_stacks(const BpfObject& object) {
  for (const stack_key& key : keys_of<stack_key>(object, "stack_waits"))
    bpf_map_delete_elem(bpf_map__fd(object.map("stack_waits")), &key);
  for (__u32 id : keys_of<__u32>(object, "stacks"))
    bpf_map_delete_elem(bpf_map__fd(object.map("stacks")), &id);
  object.stacks_dropped() = {};
}

}
