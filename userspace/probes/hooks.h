#pragma once
// The events of the kernel that probes hook, and the ways to hook each, best first. A variant is chosen when
// all of its programs load and attach; its programs stand in bpf/*.bpf.c. A new way to hook an event is one
// more entry in hooks.cpp.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iotrace {

enum class HookId {
  kSyscalls,
  kUring,
  kFaultStart,
  kFaultEnd,
  kFaultPasses,
  kFaultAround,
  kFaultMapped,
  kPageCache,
  kReadahead,
  kMmapLock,
  kLockContention,
  kBlockIo,
  kReclaim,
  kTlb,
  kSwap,
  kFork,
  kExit,
  kSleeps,
};
inline constexpr std::size_t kHooks = 18;

struct HookProgram {
  enum class Event { kTracepoint, kFunction, kPerfFaults, kPerfMinorFaults, kPerfMajorFaults };

  std::string_view name;  // on_user_fault__tp_btf
  Event event = Event::kTracepoint;
  const char* target = nullptr;  // name of the tracepoint or function
  // How many arguments the target may have for the program to read the right ones.
  int least_arguments = 0;
  int most_arguments = 0;
  // Of those that the program reads, by position: as KernelBtf::arguments_of_function() has it; "": not read.
  // Nothing else compares the arguments of raw_tp and fentry programs, which would read garbage.
  std::vector<std::string_view> types = {};
};

struct Variant {
  std::string_view name;  // "tp_btf"
  std::vector<HookProgram> programs;
  // Why it slows those that it counts so much that a run gives it repetitions of its own, and attach leaves it
  // out unless it is asked for; "" mostly.
  std::string_view dear;
};

struct Hook {
  HookId id;
  std::string_view name;  // "fault start"
  std::vector<Variant> variants;
};

const std::array<Hook, kHooks>& hooks();

// What became of one hook: the variant in use, and why those before it are not.
struct HookState {
  const Hook* hook = nullptr;
  bool wanted = false;
  bool wanted_if_dear = true;
  std::vector<std::string> refusals = {};  // why each of the first variants is not in use
  std::string given_up = {};               // why none is to be used, whether it works or not

  const Variant* variant() const {
    const bool left = given_up.empty() && refusals.size() < hook->variants.size();
    return wanted && left ? &hook->variants[refusals.size()] : nullptr;
  }
  // Gives up the present variant for the next.
  void refuse(std::string why) { refusals.push_back(std::move(why)); }
  // Gives up all.
  void give_up(std::string why) { given_up = std::move(why); }
  // Why the hook is out of use, or not hooked in a better way, and what the user should know of the way in
  // use; in one line. nullopt: there is nothing to say.
  std::optional<std::string> reason() const;
};

class HookStates {
public:
  HookStates();
  HookState& operator[](HookId id) { return states_[static_cast<std::size_t>(id)]; }
  const HookState& operator[](HookId id) const { return states_[static_cast<std::size_t>(id)]; }
  bool works(HookId id) const { return (*this)[id].variant() != nullptr; }
  // Why a hook is out of use, for `unavailable`.
  std::string why_not(HookId id) const;

  auto begin() { return states_.begin(); }
  auto end() { return states_.end(); }
  auto begin() const { return states_.begin(); }
  auto end() const { return states_.end(); }

private:
  std::array<HookState, kHooks> states_;
};

}
