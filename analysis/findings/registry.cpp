#include "analysis/findings/finding.h"

#include <algorithm>
#include <array>

namespace iotrace {

// One line each, declared and listed; the order decides between findings of one severity.
#define IOTRACE_FINDINGS(FINDING)                                                                            \
  FINDING(hint_rejected)                                                                                     \
  FINDING(rows_identical)

#define DECLARE(rule) extern const FindingRule rule;
IOTRACE_FINDINGS(DECLARE)
#undef DECLARE

std::span<const FindingRule> finding_rules() {
#define LIST(rule) rule,
  static const std::array kRules{IOTRACE_FINDINGS(LIST)};
#undef LIST
  return kRules;
}

std::vector<Finding> judge(const RunRecord& record) {
  std::vector<Finding> findings;
  for (const FindingRule& rule : finding_rules())
    for (Finding& finding : rule.judge(record)) findings.push_back(std::move(finding));

  auto badness = [](const Finding& f) { return f.severity == "fail" ? 0 : f.severity == "warn" ? 1 : 2; };
  std::ranges::stable_sort(findings, {}, badness);
  return findings;
}

}  // namespace iotrace
