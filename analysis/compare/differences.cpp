// What the hosts and files of several records don't have in common.

#include <algorithm>

#include <fmt/format.h>

#include "analysis/compare/fairness.h"
#include "analysis/format.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

constexpr const char* kUnknown = "unknown";

std::string bytes(std::uint64_t n) {
  return human_bytes(static_cast<double>(n));
}

std::string known(const std::optional<std::string>& text) {
  return text ? printable(*text) : kUnknown;
}

std::string known_bytes(const std::optional<std::uint64_t>& n) {
  return n ? bytes(*n) : kUnknown;
}

struct Fact {
  const char* what;
  std::string (*value)(const RunRecord&);
};

// Two machines of one kind don't have the same number of pages to the last one.
std::string memory(const RunRecord& record) {
  return fmt::format("{:.1f} GiB", static_cast<double>(record.host.memory_bytes) / (1ull << 30));
}

// A scratch file's path is another one each time.
std::string path(const RunRecord& record) {
  return record.file.scratch ? "a scratch file" : printable(record.file.path);
}

constexpr Fact kFacts[] = {
    {"iotrace", [](const RunRecord& r) { return printable(r.iotrace); }},
    {"kernel", [](const RunRecord& r) { return printable(r.host.kernel); }},
    {"machine", [](const RunRecord& r) { return printable(r.host.machine); }},
    {"CPU", [](const RunRecord& r) { return printable(r.host.cpu); }},
    {"CPUs", [](const RunRecord& r) { return std::to_string(r.host.cpus); }},
    {"virtualisation", [](const RunRecord& r) { return known(r.host.virtualisation); }},
    {"page size", [](const RunRecord& r) { return bytes(r.host.page_size_bytes); }},
    {"memory", memory},
    {"swap", [](const RunRecord& r) { return bytes(r.host.swap_bytes); }},
    {"per-VMA locks",
     [](const RunRecord& r) {
       return std::string(!r.host.per_vma_locks ? kUnknown : *r.host.per_vma_locks ? "yes" : "no");
     }},
    {"multi-gen LRU", [](const RunRecord& r) { return known(r.host.mglru); }},
    {"transparent huge pages", [](const RunRecord& r) { return known(r.host.thp); }},
    {"cgroup", [](const RunRecord& r) { return known(r.host.cgroup); }},
    {"file", path},
    {"file size", [](const RunRecord& r) { return bytes(r.file.size_bytes); }},
    {"file system", [](const RunRecord& r) { return printable(r.file.fs); }},
    {"device", [](const RunRecord& r) { return printable(r.file.device); }},
    {"effective read-ahead", [](const RunRecord& r) { return known_bytes(r.file.read_ahead_bytes); }},
    {"largest request", [](const RunRecord& r) { return known_bytes(r.file.max_sectors_bytes); }},
    {"scheduler", [](const RunRecord& r) { return known(r.file.scheduler); }},
    {"read as", [](const RunRecord& r) { return printable(r.options.user); }},
};

}

std::vector<RecordDifference> record_differences(const Comparison& all) {
  std::vector<RecordDifference> differences;
  for (const Fact& fact : kFacts) {
    RecordDifference difference{fact.what, {}};
    for (const NamedRecord& named : all.records) difference.values.push_back(fact.value(named.record));
    if (std::ranges::count(difference.values, difference.values.front()) < std::ssize(difference.values))
      differences.push_back(std::move(difference));
  }
  return differences;
}

}
