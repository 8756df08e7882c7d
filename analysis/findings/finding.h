#pragma once
// A finding: a sentence that a sceptic can check. Each lives in a file of its own and has one line in
// registry.cpp. Copy hint_rejected.cpp to start a new one.

#include <span>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

struct FindingRule {
  std::string_view id;
  std::string_view summary;  // what it says when it fires, one line for `iotrace list findings`
  std::vector<Finding> (*judge)(const RunRecord&);
  // Of an attach record, whose Finding::rows are indexes into its files; nullptr: it speaks of rows only.
  std::vector<Finding> (*judge_attach)(const RunRecord&) = nullptr;
};

std::span<const FindingRule> finding_rules();

// All findings of a record, worst first: severity fail, warn, info; within one by the registry's order.
std::vector<Finding> judge(const RunRecord& record);

}
