#pragma once
// Which numbers of a file become metrics: one list, so that series, sums and text follow from it.

#include <optional>
#include <span>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

// The groups that a file and the totals have in common; null: not available.
struct FileGroups {
  const Faults* faults = nullptr;
  const PageCache* page_cache = nullptr;
  const Hints* hints = nullptr;
  const BlockIo* block_io = nullptr;
  const AttachedFile* file = nullptr;  // null for the totals
};
FileGroups groups_of(const AttachedFile& file);
FileGroups groups_of(const Totals& totals);

struct FileNumber {
  const char* metric;
  const char* help;           // on the first line of a metric alone
  const char *label, *value;  // beside `file`; null: none
  double per_unit;            // of what is counted, so many are one of the metric: 1e9 ns a second
  std::optional<Count> (*number)(const FileGroups&);
};

// Lines of one metric stand together.
std::span<const FileNumber> file_counters();  // only grow while iotrace watches
std::span<const FileNumber> file_gauges();

using Numbers = std::vector<std::optional<Count>>;

// In the order of the list.
Numbers numbers_of(std::span<const FileNumber> list, const FileGroups& groups);

// Adds what is known; a number stays unknown where neither side knows it.
void add(Numbers& sum, const Numbers& more);

}
