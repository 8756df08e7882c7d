#include "userspace/probes/watch_set.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/probes/attachments.h"
#include "userspace/probes/event_ring.h"
#include "userspace/probes/kernel_btf.h"
#include "userspace/probes/load_hooks.h"
#include "userspace/probes/mapped_paths.h"
#include "userspace/probes/privilege.h"
#include "userspace/probes/probe.h"
#include "userspace/probes/stack_maps.h"
#include "userspace/probes/sums.h"
#include "userspace/probes/watch_maps.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

// What a program has run since the kernel times programs: 0 where it can't be asked.
std::pair<std::uint64_t, Count> run_time(const BpfObject& object, std::string_view program) {
  bpf_prog_info info{};
  __u32 size = sizeof(info);
  if (bpf_obj_get_info_by_fd(bpf_program__fd(object.program(program)), &info, &size) != 0) return {};
  return {info.run_time_ns, info.run_cnt};
}

bool programs_are_timed_anyway() {
  std::ifstream setting("/proc/sys/kernel/bpf_stats_enabled");
  int enabled = 0;
  return setting >> enabled && enabled != 0;
}

// What only a target that marks its uses could tell, and what is known by file.
void leave_to_files(ProbeReadings& readings) {
  auto& unavailable = readings.unavailable;
  if (readings.page_cache) {
    PageCache& pages = *readings.page_cache;
    pages.used_pages = pages.wasted_pages = std::nullopt;
    pages.wasted_by = {};
    pages.evicted_age_ns = std::nullopt;
    for (const char* key : {"page_cache.used_pages", "page_cache.wasted_pages", "page_cache.wasted_by"})
      unavailable[key] = "known by file, as an interval";
    unavailable["page_cache.evicted_age_ns"] = "not kept for a process that is attached to";
  }
  if (readings.hints) {
    Hints& hints = *readings.hints;
    hints.in_time_pages = hints.late_pages = hints.useless_pages = std::nullopt;
    hints.needless_pages = hints.truncated_pages = hints.suppressed_absent_pages = std::nullopt;
    for (const char* key : {"hints.in_time_pages", "hints.late_pages", "hints.useless_pages",
                            "hints.needless_pages", "hints.truncated_pages"})
      unavailable[key] = "known by file";
    unavailable["hints.suppressed"] = unavailable["hints.suppressed_absent_pages"] =
        "what a program withholds never reaches the kernel";
  }
}

class LoadedWatch final : public WatchSet {
public:
  LoadedWatch(std::vector<const Probe*> selected, LoadedHooks hooks, const Logs& logs)
      : selected_(std::move(selected)), object_(std::move(hooks.object)), states_(std::move(hooks.states)),
        logs_(logs), mapping_paths_(hooks.mapping_paths), attachments_(std::move(hooks.attachments)) {}

  ~LoadedWatch() override { end(); }

  Status begin(const std::vector<pid_t>& targets, bool follow) override {
    object_.set_target({.epoch = 1});
    for (pid_t pid : targets)
      if (Status added = add_target(pid); !added) return added;
    for (const HookState& state : states_) {
      const Variant* variant = state.variant();
      if (!variant) continue;
      Attachments& own = attachments_[index(state.hook->id)];
      if (state.hook->id == HookId::kFork && !follow) {
        own.detach();
      } else if (own.empty()) {
        if (Status attached = own.attach(object_, *variant); !attached) return attached;
      }
    }
    if (logs_.window_ns)
      if (Status begun = begin_events(object_); !begun) return begun;
    object_.gate_page().open = 1;
    return {};
  }

  Status add_target(pid_t pid) override { return iotrace::add_target(object_, static_cast<__u32>(pid)); }
  std::vector<pid_t> children() override { return forked_targets(object_); }

  void stop_counting() override { object_.gate_page().open = 0; }

  void end() override {
    stop_counting();
    for (Attachments& attachments : attachments_) attachments.detach();
  }

  Result<ProbeReadings> totals() override {
    Result<Sums> sums = read_sums(object_);
    if (!sums) return sums.error();
    ProbeReadings readings;
    const Counted counted{*sums, states_, 0};
    for (const Probe* probe : selected_) probe->read(counted, readings);
    read_hints(counted, false, readings);
    read_time(counted, readings);
    leave_to_files(readings);
    keep_longest(*sums, readings);
    for (const Probe* probe : selected_) readings.probes.push_back(status_of(*probe, sums->totals));
    stacks_kept_ = logs_.stacks && stacks_are_kept(states_, readings.unavailable);
    if (stacks_kept_) names_.look(processes_with_stacks(object_));
    return readings;
  }

  Result<std::vector<WatchedFile>> files() override {
    auto files = read_files(object_);
    if (!files) return files;
    for (WatchedFile& file : *files)
      for (const auto& [mapping, fault] : longest_)
        if (mapping == file.mapping) file.longest.push_back(fault);
    return files;
  }
  Result<std::vector<WatchedThread>> threads() override { return read_threads(object_); }
  std::optional<std::vector<FaultStack>> stacks() override {
    return stacks_kept_ ? std::optional(names_.name(read_stacks(object_))) : std::nullopt;
  }
  StackDrops stack_drops() override { return read_stack_drops(object_); }
  Result<std::optional<EventLog>> events(const FileCatalog& catalog) override {
    if (!logs_.window_ns) return std::optional<EventLog>();
    auto taken = take_events(object_);
    if (!taken) return taken.error();
    const auto place_of = [&](const event& event) { return this->place_of(event, catalog); };
    return std::optional(EventLog{seconds_of(logs_),
                                  logged_events(std::move(*taken), object_.window_begins(), place_of),
                                  object_.events_dropped()});
  }
  attach_losses losses() override { return read_losses(object_); }
  std::set<std::uint64_t> left_out() override { return read_left_out(object_); }

  bool asks_for_paths() const override { return mapping_paths_; }

  Status walk(FileCatalog& catalog) override {
    catalog.walk_begins();
    for (const char* iterator : {"on_descriptor__iter", "on_mapping__iter"})
      if (Status walked = walk_by(iterator, catalog); !walked) return walked;
    return {};
  }

  Status start_measuring_cost() override {
    before_ = costs_so_far();
    timing_.reset(bpf_enable_stats(BPF_STATS_RUN_TIME));
    const int refused = errno;
    if (timing_ || programs_are_timed_anyway()) return {};
    return errno_error("time the BPF programs (BPF_ENABLE_STATS)", refused,
                       "needs CAP_SYS_ADMIN, or kernel.bpf_stats_enabled=1 by sysctl");
  }

  std::vector<Cost> stop_measuring_cost() override {
    std::vector<Cost> costs = costs_so_far();
    timing_.reset();
    for (std::size_t i = 0; i < costs.size(); ++i) {
      costs[i].ns -= before_[i].ns;
      costs[i].runs -= before_[i].runs;
    }
    return costs;
  }

  void give_up(const std::string& name, const std::string& reason) override {
    for (const Probe* probe : selected_) {
      if (probe->info.name != name) continue;
      given_up_[probe] = reason;
      for (HookId id : hooks_of(*probe)) {
        attachments_[index(id)].detach();
        states_[id].give_up(reason);
      }
    }
  }

private:
  // The readings name the longest faults in the order of the sums, which know their files.
  void keep_longest(const Sums& sums, const ProbeReadings& readings) {
    longest_.clear();
    if (!readings.faults || !readings.faults->longest) return;
    const auto& named = *readings.faults->longest;
    for (std::size_t i = 0; i < named.size() && i < sums.long_faults.size(); ++i)
      longest_.emplace_back(sums.long_faults[i].mapping, named[i]);
  }

  // An address is looked up in what its process maps now, or mapped when it was looked at last.
  EventPlace place_of(const event& event, const FileCatalog& catalog) {
    if (event.address) {
      auto [process, is_new] = mappings_.try_emplace(event.tgid, static_cast<pid_t>(event.tgid));
      if (is_new) process->second.look();
      const MappedPart* part = process->second.part_at(event.at);
      if (!part || part->inode == 0) return {};
      return {part->path, event.at - part->start + part->file_offset};
    }
    EventPlace place;
    if (const CataloguedFile* file = catalog.find(event.mapping)) place.file = file->path;
    if (event.mapping && event.at != NOT_KNOWN) place.offset_bytes = event.at;
    return place;
  }

  // Its own, and what is hooked for its log: the stacks are those of faults.
  static std::vector<HookId> hooks_of(const Probe& probe) {
    std::vector<HookId> ids(probe.hooks.begin(), probe.hooks.end());
    if (probe.info.name == "faults") ids.push_back(HookId::kSleeps);
    return ids;
  }

  static std::size_t index(HookId id) { return static_cast<std::size_t>(id); }

  std::vector<Cost> costs_so_far() const {
    std::vector<Cost> costs;
    for (const Probe* probe : selected_) {
      Cost& cost = costs.emplace_back(Cost{std::string(probe->info.name), 0, 0});
      for (HookId id : hooks_of(*probe))
        if (const Variant* variant = states_[id].variant())
          for (const HookProgram& program : variant->programs) {
            const auto [ns, runs] = run_time(object_, program.name);
            cost.ns += ns;
            cost.runs += runs;
          }
    }
    return costs;
  }

  ProbeStatus status_of(const Probe& probe, const counters& totals) const {
    const Losses losses = probe.losses(totals);
    ProbeStatus status{.name = std::string(probe.info.name),
                       .variant = {},
                       .reason = {},
                       .lost = losses.lost,
                       .unmatched = losses.unmatched};
    if (auto at = given_up_.find(&probe); at != given_up_.end()) {
      status.reason = at->second;
      return status;
    }
    std::vector<std::string_view> variants;
    std::vector<std::string> reasons;
    for (HookId id : probe.hooks) {
      if (const Variant* variant = states_[id].variant()) {
        variants.push_back(variant->name);
        // A flush that interrupts another one's program comes from elsewhere: it is not one that counts.
        if (id != HookId::kTlb) status.lost += recursion_misses(object_, *variant);
      }
      if (std::optional<std::string> reason = states_[id].reason()) reasons.push_back(*reason);
    }
    if (states_.works(probe.needed)) status.variant = fmt::format("{}", fmt::join(variants, "+"));
    if (!reasons.empty()) status.reason = fmt::format("{}", fmt::join(reasons, "; "));
    return status;
  }

  Status walk_by(const char* iterator, FileCatalog& catalog) {
    Link link(bpf_program__attach_iter(object_.program(iterator), nullptr));
    if (!link) return errno_error(fmt::format("list the targets' files ({})", iterator), errno);
    UniqueFd walk(bpf_iter_create(bpf_link__fd(link.get())));
    if (!walk) return errno_error(fmt::format("list the targets' files ({})", iterator), errno);
    // A part may end within a record, whose rest comes with the next. Ten thousand mappings are 11 MB of
    // them.
    std::array<char, 1 << 16> part;
    std::size_t held = 0;
    MappedPaths paths;
    for (;;) {
      const ssize_t got = ::read(walk.get(), part.data() + held, part.size() - held);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return errno_error(fmt::format("list the targets' files ({})", iterator), errno);
      if (got == 0) break;
      held += static_cast<std::size_t>(got);
      std::size_t at = 0;
      for (; at + sizeof(mapping_record) <= held; at += sizeof(mapping_record)) {
        mapping_record record;
        std::copy_n(part.data() + at, sizeof(record), reinterpret_cast<char*>(&record));
        if (record.path_bytes == 0) paths.add(record);
        catalog.add(record);
      }
      held = static_cast<std::size_t>(std::copy(part.data() + at, part.data() + held, part.data()) -
                                      part.data());
    }
    return {};
  }

  std::vector<const Probe*> selected_;
  // The order matters: attachments go before the object that they hold programs of.
  BpfObject object_;
  HookStates states_;
  Logs logs_;
  bool mapping_paths_;
  StackNames names_;
  bool stacks_kept_ = false;
  std::map<__u32, ProcessSymbols> mappings_;
  std::array<Attachments, kHooks> attachments_;
  UniqueFd timing_;
  std::vector<Cost> before_;
  std::map<const Probe*, std::string> given_up_;
  std::vector<std::pair<std::uint64_t, LongFault>> longest_;  // address_space, fault
};

}

Result<std::unique_ptr<WatchSet>> WatchSet::load(const std::vector<std::string>& names, const Logs& logs) {
  Result<std::vector<const Probe*>> selected = select_probes(names);
  if (!selected) return selected.error();
  if (Status allowed = may_attach(); !allowed) return allowed.error();
  Result<KernelBtf> kernel = KernelBtf::load();
  if (!kernel) return kernel.error();

  HookStates states;
  states[HookId::kFork].wanted = true;
  states[HookId::kExit].wanted = true;
  states[HookId::kFaultPasses].wanted = true;  // which file a fault is on
  states[HookId::kFaultAround].wanted = true;
  for (const Probe* probe : *selected) {
    for (HookId id : probe->hooks) states[id].wanted = true;
    for (HookId id : probe->borrows) states[id].wanted = true;
  }
  // A dear event costs the target, not just iotrace: it is for a process in use only when it is asked for.
  for (HookState& state : states) state.wanted_if_dear = false;
  if (!names.empty())
    for (const Probe* probe : *selected) states[probe->needed].wanted_if_dear = true;
  Result<LoadedHooks> hooks = load_hooks(std::move(states), *kernel, {.many = true, .logs = logs});
  if (!hooks) return hooks.error();
  return std::unique_ptr<WatchSet>(
      std::make_unique<LoadedWatch>(std::move(*selected), std::move(*hooks), logs));
}

}
