#pragma once
// Whether it is fair to compare records: what their hosts, files and settings don't have in common.

#include "analysis/compare/compared.h"

namespace iotrace {

// Host and file, those that differ alone. What only one record knows is "unknown" in the other.
std::vector<RecordDifference> record_differences(const Comparison& all);

// One sentence each: what may make a difference that is none of what was to be compared, the gravest first.
std::vector<std::string> fairness_warnings(const Comparison& all);

}
