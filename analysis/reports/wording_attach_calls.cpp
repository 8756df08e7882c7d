// The system calls of an attach record that bear on reading, and what became of them.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording_attach.h"
#include "analysis/text.h"

namespace iotrace::wording {

namespace {

struct Calls {
  Count all = 0;
  std::map<std::string, Count> failed;  // by errno
  const Histogram* lat_ns = nullptr;    // whatever they returned
};

std::string failures(const std::map<std::string, Count>& failed) {
  std::vector<std::string> parts;
  for (const auto& [error, calls] : failed) parts.push_back(fmt::format("{} {}", calls, error));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}

AttachTable call_table(const RunRecord& record) {
  if (!record.totals || !record.totals->syscalls) return {};
  std::map<std::string, Calls> by_name;
  for (const SyscallCount& count : *record.totals->syscalls) {
    if (count.calls == 0) continue;
    Calls& calls = by_name[printable(count.name)];
    calls.all += count.calls;
    if (count.error) calls.failed[printable(*count.error)] += count.calls;
    if (count.lat_ns) calls.lat_ns = &*count.lat_ns;
  }
  AttachTable table{.heading = "system calls that bear on reading",
                    .columns = {"call", "calls", "p50", "p99", "longest", "in all", "failed"}};
  for (const auto& [name, calls] : by_name) {
    const bool timed = calls.lat_ns && calls.lat_ns->count() > 0;
    table.add({name, cell_count(calls.all), timed ? cell_ns(calls.lat_ns->percentile(0.5)) : "",
               timed ? cell_ns(calls.lat_ns->percentile(0.99)) : "",
               timed ? cell_ns(calls.lat_ns->max()) : "",
               timed ? human_ns(static_cast<double>(calls.lat_ns->sum())) : "", failures(calls.failed)});
  }
  drop_empty_columns(table);
  return table;
}

AttachTable advice_table(const RunRecord& record) {
  if (!record.totals || !record.totals->madvise) return {};
  AttachTable table{.heading = "madvise",
                    .labels = 2,
                    .columns = {"advice", "returned", "calls", "start not\naligned", "asked for"}};
  for (const MadviseCount& count : *record.totals->madvise)
    if (count.calls > 0)
      table.add({printable(count.advice), count.error ? printable(*count.error) : "0",
                 cell_count(count.calls), cell_count(count.misaligned),
                 human_bytes(static_cast<double>(count.requested_bytes))});
  drop_empty_columns(table);
  return table;
}

}
