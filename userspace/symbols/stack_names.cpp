#include "userspace/symbols/stack_names.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace iotrace {

namespace {

// Frames come innermost first and go outermost first. All but the innermost are return addresses, which may
// lie behind the end of the function that called: the byte before each is in it.
template<typename Name>
std::vector<std::string> named(const std::vector<std::uint64_t>& addresses, bool innermost_returns,
                               Name name) {
  std::vector<std::string> frames;
  for (std::size_t i = addresses.size(); i-- > 0;)
    frames.push_back(name(addresses[i] - (i > 0 || innermost_returns)));
  return frames;
}

// A thread sleeps in the scheduler: what lies within is the tracepoint that took the stack.
std::vector<std::string> down_to_sleep(std::vector<std::string> frames) {
  auto sleep = std::ranges::find(frames, "__schedule");
  if (sleep != frames.end()) frames.erase(sleep + 1, frames.end());
  return frames;
}

}

ProcessSymbols& StackNames::process(pid_t tgid) {
  return processes_.try_emplace(tgid, tgid).first->second;
}

void StackNames::look(const std::set<pid_t>& tgids) {
  for (pid_t tgid : tgids) process(tgid).look();
}

std::vector<FaultStack> StackNames::name(const std::vector<CountedStack>& stacks) {
  std::set<pid_t> tgids;
  for (const CountedStack& stack : stacks) tgids.insert(stack.tgid);
  look(tgids);
  if (!stacks.empty() && !kernel_) kernel_ = KernelSymbols::load();
  using Way = std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>;
  std::map<Way, StackDrops> sums;
  for (const CountedStack& stack : stacks) {
    ProcessSymbols& symbols = process(stack.tgid);
    Way way{stack.thread, named(stack.user, false, [&](auto address) { return symbols.name(address); }),
            down_to_sleep(named(stack.kernel, true, [&](auto address) { return kernel_->name(address); }))};
    auto& [faults, wait_ns] = sums[std::move(way)];
    faults += stack.faults;
    wait_ns += stack.wait_ns;
  }
  std::vector<FaultStack> result;
  for (const auto& [way, sum] : sums) {
    const auto& [thread, user, kernel] = way;
    result.push_back({thread, user, kernel, sum.faults, sum.wait_ns});
  }
  std::ranges::stable_sort(result, std::ranges::greater(), &FaultStack::wait_ns);
  return result;
}

}
