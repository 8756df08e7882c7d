#include "analysis/reports/file_numbers.h"

#include <algorithm>

namespace iotrace {

namespace {

using Number = std::optional<Count>;
using Groups = FileGroups;

// The member of a group, of a group's member, or nothing.
template<auto kMember> Number fault_count(const Groups& groups) {
  if (!groups.faults || !(groups.faults->*kMember)) return std::nullopt;
  return (groups.faults->*kMember)->count;
}
template<auto kMember> Number page_cache(const Groups& groups) {
  return groups.page_cache ? groups.page_cache->*kMember : std::nullopt;
}
template<auto kMember> Number added_by(const Groups& groups) {
  return groups.page_cache ? groups.page_cache->by.*kMember : std::nullopt;
}
template<auto kMember> Number hints(const Groups& groups) {
  return groups.hints ? groups.hints->*kMember : std::nullopt;
}
template<auto kMember> Number block_io(const Groups& groups) {
  return groups.block_io ? groups.block_io->*kMember : std::nullopt;
}
template<auto kMember> Number file(const Groups& groups) {
  return groups.file ? Number(groups.file->*kMember) : std::nullopt;
}

Number fault_wait_ns(const Groups& groups) {
  if (!groups.faults || !groups.faults->waited || !groups.faults->read) return std::nullopt;
  return groups.faults->waited->lat_ns.sum() + groups.faults->read->lat_ns.sum();
}

Number hints_accepted(const Groups& groups) {
  if (!groups.hints || !groups.hints->issued || !groups.hints->rejected) return std::nullopt;
  return *groups.hints->issued - std::min(*groups.hints->issued, *groups.hints->rejected);
}

Number reads(const Groups& groups, Count (*of)(const FileReads&)) {
  if (!groups.file || !groups.file->reads) return std::nullopt;
  return of(*groups.file->reads);
}
Number read_calls(const Groups& groups) {
  return reads(groups, [](const FileReads& reads) { return reads.calls; });
}
Number read_bytes(const Groups& groups) {
  return reads(groups, [](const FileReads& reads) { return reads.bytes; });
}
Number read_ns(const Groups& groups) {
  return reads(groups, [](const FileReads& reads) { return reads.lat_ns.sum(); });
}

template<auto kMember> Number order(const Groups& groups) {
  if (!groups.file || !groups.file->order) return std::nullopt;
  return (*groups.file->order).*kMember;
}

// Of a file that isn't mapped there is none, and mapped_bytes says so.
template<char kFirst> Number advised_bytes(const Groups& groups) {
  if (!groups.file || groups.file->advice.empty()) return std::nullopt;
  Count bytes = 0;
  for (const AdviceInForce& advice : groups.file->advice)
    if (advice.advice.starts_with(kFirst)) bytes += advice.bytes;
  return bytes;
}

constexpr FileNumber kCounters[] = {
    {"iotrace_page_faults_total",
     "Page faults on the file, by what happened: mapped from the cache, waited for I/O that was under way, "
     "read from the device.",
     "kind", "mapped", 1, fault_count<&Faults::mapped>},
    {"iotrace_page_faults_total", "", "kind", "waited", 1, fault_count<&Faults::waited>},
    {"iotrace_page_faults_total", "", "kind", "read", 1, fault_count<&Faults::read>},
    {"iotrace_page_fault_wait_seconds_total",
     "Seconds of threads in page faults that waited or read; its rate is the threads blocked at once.",
     nullptr, nullptr, 1e9, fault_wait_ns},
    {"iotrace_pages_added_total", "Pages that entered the page cache, by who brought them.", "source",
     "fault", 1, added_by<&PageCacheBy::fault>},
    {"iotrace_pages_added_total", "", "source", "readahead", 1, added_by<&PageCacheBy::readahead>},
    {"iotrace_pages_added_total", "", "source", "hint", 1, added_by<&PageCacheBy::hint>},
    {"iotrace_pages_added_total", "", "source", "read", 1, added_by<&PageCacheBy::read>},
    {"iotrace_pages_added_total", "", "source", "other", 1, added_by<&PageCacheBy::other>},
    {"iotrace_pages_evicted_total", "Pages that left the page cache.", nullptr, nullptr, 1,
     page_cache<&PageCache::evicted_pages>},
    {"iotrace_pages_refaulted_total", "Pages that entered the page cache again after they had left it.",
     nullptr, nullptr, 1, page_cache<&PageCache::refault_pages>},
    {"iotrace_hints_total", "Calls that hinted at reads to come, by what the kernel answered.", "result",
     "accepted", 1, hints_accepted},
    {"iotrace_hints_total", "", "result", "rejected", 1, hints<&Hints::rejected>},
    {"iotrace_hint_pages_total", "Pages that were hinted at, by what became of the hint.", "result",
     "in_time", 1, hints<&Hints::in_time_pages>},
    {"iotrace_hint_pages_total", "", "result", "late", 1, hints<&Hints::late_pages>},
    {"iotrace_hint_pages_total", "", "result", "needless", 1, hints<&Hints::needless_pages>},
    {"iotrace_hint_pages_total", "", "result", "truncated", 1, hints<&Hints::truncated_pages>},
    {"iotrace_reads_total", "Calls of read, pread and their kind on the file.", nullptr, nullptr, 1,
     read_calls},
    {"iotrace_read_bytes_total", "Bytes that these calls returned.", nullptr, nullptr, 1, read_bytes},
    {"iotrace_read_seconds_total", "Seconds of threads in these calls.", nullptr, nullptr, 1e9, read_ns},
    {"iotrace_device_reads_total", "Requests to the device that read the file.", nullptr, nullptr, 1,
     block_io<&BlockIo::reads>},
    {"iotrace_device_read_bytes_total", "Bytes that the device delivered of the file.", nullptr, nullptr, 1,
     block_io<&BlockIo::read_bytes>},
    {"iotrace_accesses_total",
     "Faults and reads of a thread, by whether they began where its last one on the file ended.", "order",
     "in_order", 1, order<&AccessOrder::in_order>},
    {"iotrace_accesses_total", "", "order", "out_of_order", 1, order<&AccessOrder::out_of_order>},
};

constexpr FileNumber kGauges[] = {
    {"iotrace_file_size_bytes", "Size of the file.", nullptr, nullptr, 1, file<&AttachedFile::size_bytes>},
    {"iotrace_file_mapped_bytes", "Bytes of the target's mappings of the file.", nullptr, nullptr, 1,
     file<&AttachedFile::mapped_bytes>},
    {"iotrace_file_resident_bytes", "Bytes of the file in the page cache.", nullptr, nullptr, 1,
     file<&AttachedFile::resident_bytes>},
    {"iotrace_file_advised_bytes", "Mapped bytes of the file by the advice in force.", "advice", "NORMAL", 1,
     advised_bytes<'N'>},
    {"iotrace_file_advised_bytes", "", "advice", "RANDOM", 1, advised_bytes<'R'>},
    {"iotrace_file_advised_bytes", "", "advice", "SEQUENTIAL", 1, advised_bytes<'S'>},
    {"iotrace_file_wasted_pages_min",
     "Pages added while iotrace watches that nobody touched for certain. Falls when one is touched after "
     "all.",
     nullptr, nullptr, 1, file<&AttachedFile::wasted_least_pages>},
    {"iotrace_file_wasted_pages_max",
     "The same, and those that may have been used unseen beside another page's fault.", nullptr, nullptr, 1,
     file<&AttachedFile::wasted_most_pages>},
    {"iotrace_hint_untouched_pages",
     "Pages that a hint brought in and nobody has touched. Falls when one is touched after all.", nullptr,
     nullptr, 1, hints<&Hints::useless_pages>},
};

template<typename Group> const Group* if_any(const std::optional<Group>& group) {
  return group ? &*group : nullptr;
}

}

FileGroups groups_of(const AttachedFile& file) {
  return {if_any(file.faults), if_any(file.page_cache), if_any(file.hints), if_any(file.block_io), &file};
}

FileGroups groups_of(const Totals& totals) {
  return {if_any(totals.faults), if_any(totals.page_cache), if_any(totals.hints), if_any(totals.block_io)};
}

std::span<const FileNumber> file_counters() {
  return kCounters;
}

std::span<const FileNumber> file_gauges() {
  return kGauges;
}

Numbers numbers_of(std::span<const FileNumber> list, const FileGroups& groups) {
  Numbers numbers;
  for (const FileNumber& entry : list) numbers.push_back(entry.number(groups));
  return numbers;
}

void add(Numbers& sum, const Numbers& more) {
  sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i)
    if (more[i]) sum[i] = sum[i].value_or(0) + *more[i];
}

}
