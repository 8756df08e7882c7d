#include "userspace/probes/probe_set.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/probes/attachments.h"
#include "userspace/probes/event_ring.h"
#include "userspace/probes/kernel_btf.h"
#include "userspace/probes/load_hooks.h"
#include "userspace/probes/load_probe_set.h"
#include "userspace/probes/page_ledger.h"
#include "userspace/probes/privilege.h"
#include "userspace/probes/probe.h"
#include "userspace/probes/stack_maps.h"
#include "userspace/probes/sums.h"

namespace iotrace {

namespace {

// As the kernel names it now.
std::string path_of(int fd) {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error).string();
}

constexpr __u32 kLastMark = MARK_WITHHELD - 1;  // 0 is no mark

class LoadedProbes final : public ProbeSet {
public:
  LoadedProbes(std::vector<const Probe*> selected, LoadedHooks hooks, std::string ledger_note,
               const Logs& logs, std::string path)
      : selected_(std::move(selected)), object_(std::move(hooks.object)), states_(std::move(hooks.states)),
        ledger_note_(std::move(ledger_note)), logs_(logs), path_(std::move(path)) {}

  int gate_fd() const override { return object_.gate_fd(); }
  int ledger_fd() const override { return object_.ledger_fd(); }
  std::uint64_t ledger_bytes() const override { return object_.ledger_bytes(); }

  bool has_dear_hook() const override {
    return std::ranges::any_of(
        states_, [](const HookState& state) { return state.variant() && !state.variant()->dear.empty(); });
  }

  Status attach(const ProbeTarget& whose) override {
    detach();
    if (Status cleared = clear_sums(object_); !cleared) return cleared;
    if (logs_.stacks) clear_stacks(object_);
    if (Status marked = next_mark(); !marked) return marked;
    tgid_ = whose.tgid;
    mapping_address_ = whose.mapping_address;
    mapping_bytes_ = whose.mapping_bytes;
    marks_withheld_ = whose.marks_withheld;
    object_.set_target({.tgid = static_cast<__u32>(whose.tgid),
                        .epoch = ++epoch_,
                        .mapping_address = whose.mapping_address,
                        .mapping_bytes = whose.mapping_bytes,
                        .excluded_tid = static_cast<__u32>(whose.excluded_tid),
                        .marks_withheld = whose.marks_withheld});
    misses_before_ = all_misses();
    for (const HookState& state : states_) {
      const Variant* variant = state.variant();
      if (!variant || (!variant->dear.empty() && !whose.with_dear)) continue;
      if (Status attached = attachments_.attach(object_, *variant); !attached) {
        attachments_.detach();
        return attached;
      }
    }
    return logs_.window_ns ? begin_events(object_) : Status();
  }

  void detach() override {
    attachments_.detach();
    object_.gate_page().open = 0;
  }

  Result<ProbeReadings> read() override {
    Result<Sums> sums = read_sums(object_);
    if (!sums) return sums.error();
    ProbeReadings readings;
    const Counted counted{*sums, states_, tgid_};
    for (const Probe* probe : selected_) probe->read(counted, readings);
    read_hints(counted, marks_withheld_, readings);
    read_time(counted, readings);
    readings.probes = status_from(sums->totals);
    if (logs_.stacks && stacks_are_kept(states_, readings.unavailable)) {
      readings.stacks = StackNames().name(read_stacks(object_));
      readings.stacks_dropped = read_stack_drops(object_);
    }
    if (logs_.window_ns) {
      auto events = take_events(object_);
      if (!events) return events.error();
      readings.events = {seconds_of(logs_),
                         logged_events(std::move(*events), object_.window_begins(),
                                       [this](const event& event) { return place_of(event); }),
                         object_.events_dropped()};
    }
    return readings;
  }

  std::vector<ProbeStatus> status() const override {
    Result<counters> totals = read_counters(object_);
    return status_from(totals ? *totals : counters{});
  }

  Status start_folio_census() override {
    const Variant* variant = states_[HookId::kPageCache].variant();
    if (!variant) return Error{states_.why_not(HookId::kPageCache)};
    if (Status cleared = clear_folio_orders(object_); !cleared) return cleared;
    object_.set_census(true);
    return attachments_.empty() ? census_.attach(object_, *variant) : Status();
  }

  std::optional<std::map<std::uint32_t, Count>> stop_folio_census() override {
    census_.detach();
    object_.set_census(false);
    if (!states_.works(HookId::kPageCache)) return std::nullopt;
    Result<std::vector<__u64>> folios = read_folio_orders(object_);
    if (!folios) return std::nullopt;
    std::map<std::uint32_t, Count> by_order;
    for (std::uint32_t order = 0; order < folios->size(); ++order)
      if ((*folios)[order] != 0) by_order[order] = (*folios)[order];
    return by_order;
  }

private:
  // Marks of earlier windows stay behind, and mean nothing until their value comes again.
  Status next_mark() {
    __u32& mark = object_.gate_page().mark;
    if (mark == kLastMark) {
      if (Status cleared = clear_marks(object_); !cleared) return cleared;
      mark = 0;
    }
    ++mark;
    return {};
  }

  std::array<Count, kHooks> all_misses() const {
    std::array<Count, kHooks> misses{};
    for (const HookState& state : states_)
      if (const Variant* variant = state.variant())
        misses[static_cast<std::size_t>(state.hook->id)] = recursion_misses(object_, *variant);
    return misses;
  }

  EventPlace place_of(const event& event) const {
    if (event.address) {
      const std::uint64_t offset = event.at - mapping_address_;
      if (offset < mapping_bytes_) return {path_, offset};
    } else if (event.mapping && event.mapping == object_.followed_mapping()) {
      return {path_, event.at == NOT_KNOWN ? std::nullopt : std::optional<std::uint64_t>(event.at)};
    }
    return {};
  }

  bool reported(HookId id) const {
    return std::ranges::any_of(selected_, [&](const Probe* probe) {
      return std::ranges::find(probe->hooks, id) != probe->hooks.end();
    });
  }

  // A probe that is given up is so with all of its hooks, for one reason.
  bool said_before(HookId id, const Probe& probe) const {
    const HookId first = probe.hooks.front();
    return id != first && !states_[id].given_up.empty() && states_[id].given_up == states_[first].given_up;
  }

  std::vector<ProbeStatus> status_from(const counters& totals) const {
    std::array<Count, kHooks> misses = all_misses();
    std::vector<ProbeStatus> all;
    for (const Probe* probe : selected_) {
      ProbeStatus& status = all.emplace_back();
      status.name = probe->info.name;
      Losses losses = probe->losses(totals);
      status.lost = losses.lost;
      status.unmatched = losses.unmatched;

      std::vector<std::string_view> variants;
      std::vector<std::string> reasons;
      for (HookId id : probe->hooks) {
        const HookState& state = states_[id];
        auto index = static_cast<std::size_t>(id);
        // A flush that interrupts another one's program comes from elsewhere: it is not one that counts.
        if (id != HookId::kTlb) status.lost += misses[index] - misses_before_[index];
        if (const Variant* variant = state.variant()) variants.push_back(variant->name);
        if (std::optional<std::string> reason = state.reason(); reason && !said_before(id, *probe))
          reasons.push_back(*reason);
        if (id == HookId::kPageCache && !ledger_note_.empty()) reasons.push_back(ledger_note_);
      }
      // What is to be said of a borrowed hook its own probe says, if that one reports.
      for (HookId id : probe->borrows)
        if (std::optional<std::string> reason = states_[id].reason(); reason && !reported(id))
          reasons.push_back(*reason);
      if (states_.works(probe->needed)) status.variant = fmt::format("{}", fmt::join(variants, "+"));
      if (!reasons.empty()) status.reason = fmt::format("{}", fmt::join(reasons, "; "));
    }
    return all;
  }

  std::vector<const Probe*> selected_;
  // The order matters: attachments go before the object that they hold programs of.
  BpfObject object_;
  HookStates states_;
  std::string ledger_note_;
  Logs logs_;
  Attachments attachments_;
  Attachments census_;
  std::array<Count, kHooks> misses_before_{};
  __u32 epoch_ = 0;
  pid_t tgid_ = 0;
  std::uint64_t mapping_address_ = 0, mapping_bytes_ = 0;
  std::string path_;  // of the followed file
  bool marks_withheld_ = false;
};

}

Result<std::unique_ptr<ProbeSet>> load_probe_set(const std::vector<std::string>& names, int file_fd,
                                                 HookStates states, const Logs& logs) {
  Result<std::vector<const Probe*>> selected = select_probes(names);
  if (!selected) return selected.error();
  if (Status allowed = may_trace(); !allowed) return allowed.error();
  Result<KernelBtf> kernel = KernelBtf::load();
  if (!kernel) return kernel.error();

  states[HookId::kPageCache].wanted = true;  // for the census of folios
  for (const Probe* probe : *selected) {
    for (HookId id : probe->hooks) states[id].wanted = true;
    for (HookId id : probe->borrows) states[id].wanted = true;
  }
  Result<LoadedHooks> hooks = load_hooks(std::move(states), *kernel, {.file_fd = file_fd, .logs = logs});
  if (!hooks) return hooks.error();
  return std::unique_ptr<ProbeSet>(std::make_unique<LoadedProbes>(
      std::move(*selected), std::move(*hooks), ledger_size(file_fd).note, logs, path_of(file_fd)));
}

Result<std::unique_ptr<ProbeSet>> ProbeSet::load(const std::vector<std::string>& names, int file_fd,
                                                 const Logs& logs) {
  return load_probe_set(names, file_fd, HookStates(), logs);
}

}
