#include "analysis/reports/wording_attach.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/attach_facts.h"
#include "analysis/format.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

constexpr std::size_t kProcessesNamed = 5;

// "java (4711), sqlite3 (4800) and 3 more"
std::string name_processes(const AttachTarget& target) {
  std::string out;
  const std::size_t named = std::min(kProcessesNamed, target.processes.size());
  for (std::size_t i = 0; i < named; ++i)
    out += fmt::format("{}{} ({})", i == 0 ? "" : ", ", printable(target.processes[i].name),
                       target.processes[i].pid);
  if (target.processes.size() > named) out += fmt::format(" and {} more", target.processes.size() - named);
  return out.empty() ? "no process" : out;
}

Count calls_of_reading(const Totals& totals) {
  Count calls = 0;
  for (const SyscallCount& count : totals.syscalls.value_or(std::vector<SyscallCount>()))
    if (count.name.starts_with("read") || count.name.starts_with("pread")) calls += count.calls;
  return calls;
}

bool hints_were_given(const Totals& totals) {
  return totals.hints && totals.hints->issued.value_or(0) > 0;
}

bool somebody_waited_for_the_lock(const Totals& totals) {
  if (!totals.mmap_lock) return false;
  for (const auto& side : {totals.mmap_lock->read, totals.mmap_lock->write})
    if (side && side->contended > 0) return true;
  return false;
}

bool memory_was_short(const Totals& totals) {
  return totals.reclaim &&
         (totals.reclaim->direct_stalls.value_or(0) > 0 || totals.reclaim->swap_in_pages.value_or(0) > 0);
}

}

std::vector<std::string> watch_facts(const RunRecord& record) {
  if (!record.target) return {"nobody"};
  const AttachTarget& target = *record.target;
  std::vector<std::string> facts{
      fmt::format("{} for {}", name_processes(target), human_ns(1e9 * target.seconds))};
  if (!target.asked.empty()) facts.push_back("asked for by " + printable(target.asked));
  std::map<std::string, std::vector<std::string>> ended;
  for (const WatchedProcess& process : target.processes)
    if (process.ended) ended[printable(*process.ended)].push_back(std::to_string(process.pid));
  for (const auto& [how, pids] : ended)
    facts.push_back(target.processes.size() == 1     ? "which " + how
                    : pids.size() <= kProcessesNamed ? fmt::format("{}: {}", how, fmt::join(pids, ", "))
                                                     : fmt::format("{}: {} of them", how, pids.size()));
  return facts;
}

std::string cost_words(const RunRecord& record) {
  if (!record.target || !record.target->observer_cpu_ratio) return {};
  const AttachTarget& target = *record.target;
  return percent(*target.observer_cpu_ratio) + " of one processor in the probes" +
         (target.observer_timed_s
              ? fmt::format(", timed for {:.1f} s of {:.1f} s", *target.observer_timed_s, target.seconds)
              : "");
}

std::string quiet_words(const RunRecord& record) {
  if (!record.target || !record.totals) return "Nothing was watched.";
  const Totals& totals = *record.totals;
  if (std::ranges::any_of(record.files, is_active) || std::ranges::any_of(record.threads, waited) ||
      somebody_waited_for_the_lock(totals) || hints_were_given(totals) || memory_was_short(totals))
    return {};
  // What a probe did not see may have happened all the same.
  std::vector<std::string> unseen;
  if (!totals.faults) unseen.emplace_back("page faults");
  if (!totals.syscalls) unseen.emplace_back("system calls");
  if (!totals.page_cache) unseen.emplace_back("the page cache");
  std::string text = fmt::format("{}: nothing waited in {}", printable(target_name(record)),
                                 human_ns(1e9 * record.target->seconds));
  if (totals.faults && totals.faults->mapped)
    text += fmt::format("; {} found their page in memory", counted(totals.faults->mapped->count, "fault"));
  if (totals.syscalls) text += fmt::format("; {}", counted(calls_of_reading(totals), "read call"));
  if (!unseen.empty()) text += fmt::format("; not seen: {}", fmt::join(unseen, ", "));
  return text + ".";
}

std::vector<AttachTable> attach_tables(const RunRecord& record, std::size_t top) {
  std::vector<AttachTable> tables = file_tables(record, top);
  tables.push_back(thread_table(record, top));
  tables.push_back(long_fault_table(record));
  tables.push_back(lock_table(record));
  tables.push_back(advice_table(record));
  tables.push_back(call_table(record));
  std::erase_if(tables, [](const AttachTable& table) { return table.empty(); });
  return tables;
}

std::vector<std::string> memory_words(const RunRecord& record) {
  std::vector<std::string> sentences;
  if (!record.totals) return sentences;
  const Totals& totals = *record.totals;
  if (totals.faults && totals.faults->blocked_threads_max.value_or(0) > 0) {
    std::string text =
        fmt::format("threads in faults that wait, at once: {} at most", *totals.faults->blocked_threads_max);
    if (totals.faults->blocked_threads_avg)
      text += fmt::format(", {} on average", three_digits(*totals.faults->blocked_threads_avg));
    sentences.push_back(text);
  }
  if (!totals.reclaim) return sentences;
  const Reclaim& reclaim = *totals.reclaim;
  if (reclaim.direct_stalls.value_or(0) > 0) {
    std::string text = fmt::format("direct reclaim: threads freed memory themselves {}",
                                   counted(*reclaim.direct_stalls, "time"));
    if (reclaim.cgroup_stalls.value_or(0) > 0)
      text += fmt::format(" ({} at a cgroup's limit)", reclaim.cgroup_stalls == reclaim.direct_stalls
                                                           ? "all"
                                                           : std::to_string(*reclaim.cgroup_stalls));
    if (reclaim.stall_ns)
      text += fmt::format(", {} in all, p99 {}", human_ns(static_cast<double>(reclaim.stall_ns->sum())),
                          cell_ns(reclaim.stall_ns->percentile(0.99)));
    sentences.push_back(text);
  }
  if (reclaim.swap_in_pages.value_or(0) > 0)
    sentences.push_back(fmt::format("swap: {} of the targets' own memory came back",
                                    counted(*reclaim.swap_in_pages, "page")));
  return sentences;
}

std::vector<std::string> loss_words(const RunRecord& record) {
  std::vector<std::string> sentences;
  if (record.totals)
    for (const ProbeStatus& probe : record.totals->probes)
      if (probe.lost > 0)
        sentences.push_back(fmt::format("lost: {} of probe {}, whose numbers are lower bounds",
                                        counted(probe.lost, "event"), printable(probe.name)));
  return sentences;
}

std::vector<std::string> unavailable_words(const RunRecord& record) {
  std::map<std::string, std::set<std::string>> of_all, of_files;
  std::map<std::string, std::size_t> files;
  std::size_t counted_files = 0;
  if (record.totals)
    for (const auto& [key, reason] : record.totals->unavailable)
      of_all[printable(reason)].insert(printable(key));
  for (const AttachedFile& file : record.files) {
    std::set<std::string> reasons;
    for (const auto& [key, reason] : file.unavailable) {
      of_files[printable(reason)].insert(printable(key));
      reasons.insert(printable(reason));
    }
    for (const std::string& reason : reasons) ++files[reason];
    counted_files += file.page_cache.has_value();
  }
  std::vector<std::string> words;
  for (const auto& [reason, keys] : of_all)
    words.push_back(fmt::format("{}: {}", fmt::join(keys, ", "), reason));
  // What holds for every file that was used is how attach counts, and stands in the record.
  for (const auto& [reason, keys] : of_files)
    if (files[reason] != counted_files)
      words.push_back(
          fmt::format("{} of {}: {}", fmt::join(keys, ", "), counted(files[reason], "file"), reason));
  return words;
}

void drop_empty_columns(AttachTable& table) {
  for (std::size_t column = table.columns.size(); column-- > table.labels;) {
    const bool holds = std::ranges::any_of(table.lines, [&](const auto& line) {
      return column < line.size() && !line[column].empty() && line[column] != kNotAvailable;
    });
    if (holds) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (auto& line : table.lines)
      if (column < line.size()) line.erase(line.begin() + at);
  }
}

std::string cell_ns(std::optional<std::uint64_t> nanoseconds) {
  return nanoseconds ? human_ns(static_cast<double>(*nanoseconds)) : "";
}

std::string cell_count(Count count) {
  return count > 0 ? std::to_string(count) : "";
}

}
