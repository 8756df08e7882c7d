#pragma once
// What findings and reports ask of an attach record, worked out once.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

bool of_attach(const RunRecord& record);

// "java (4711)", "3 processes java", "3 processes". As the target names itself: not made printable.
std::string target_name(const RunRecord& record);

// ---- a file ----

// Faults that waited for the device, or for its I/O under way, and how long each. nullopt: not counted.
std::optional<Count> waiting_faults(const AttachedFile& file);
std::optional<Histogram> waiting_latency(const std::optional<Faults>& faults);

// Thread-seconds in such faults and in read calls; 0 where neither was counted.
double waited_seconds(const AttachedFile& file);

// Whether anything happened on it: a fault that waited, pages that came or went, a read, a hint.
bool is_active(const AttachedFile& file);

// What its users needed of the device at the least: a page for each fault that waited, and what read calls
// returned. nullopt: not counted, or nothing.
std::optional<double> needed_bytes(const AttachedFile& file, std::uint64_t page_size_bytes);

// The advice on at least half of its mapped bytes; "": it is not mapped, or no advice prevails.
std::string_view prevailing_advice(const AttachedFile& file);

// nullopt: one of both is not known, or it is empty.
std::optional<double> resident_ratio(const AttachedFile& file);

// Several files as one: sums, and histograms put together. What one of them lacks, the sum lacks.
//   files  [n >= 1]
AttachedFile sum_of(const std::vector<const AttachedFile*>& files);

// ---- threads ----

// It waited in a fault, a read or for mmap_lock: one that works on the files, unlike one that sleeps.
bool waited(const AttachedThread& thread);

// ---- all targets ----

// The totals as a row: what holds of a row's counters holds of them. Its strategy is the target's name, its
// threads and their time are of the threads that waited. The record holds nothing else but host and target.
RunRecord totals_as_row(const RunRecord& record);

}
