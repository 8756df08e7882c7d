#include "analysis/findings/finding.h"

#include <algorithm>
#include <array>

#include "analysis/attach_facts.h"

namespace iotrace {

// One line each, declared and listed; the order decides between findings of one severity: first what makes
// other numbers doubtful, then what costs most.
#define IOTRACE_FINDINGS(FINDING)                                                                            \
  FINDING(events_lost)                                                                                       \
  FINDING(hint_rejected)                                                                                     \
  FINDING(no_hint_issued)                                                                                    \
  FINDING(hint_truncated)                                                                                    \
  FINDING(rows_identical)                                                                                    \
  FINDING(backoff_suppressed)                                                                                \
  FINDING(prefetch_late)                                                                                     \
  FINDING(prefetch_needless)                                                                                 \
  FINDING(wrong_advice)                                                                                      \
  FINDING(readahead_waste)                                                                                   \
  FINDING(major_faults_serial)                                                                               \
  FINDING(writer_convoy)                                                                                     \
  FINDING(mmap_lock_wait)                                                                                    \
  FINDING(lock_not_io)                                                                                       \
  FINDING(thrashing)                                                                                         \
  FINDING(direct_reclaim)                                                                                    \
  FINDING(swap_in)                                                                                           \
  FINDING(random_on_slow_device)                                                                             \
  FINDING(readahead_pollutes)                                                                                \
  FINDING(host_cache)                                                                                        \
  FINDING(cache_state)                                                                                       \
  FINDING(probe_unavailable)                                                                                 \
  FINDING(too_few_repetitions)                                                                               \
  FINDING(ceiling_reached)                                                                                   \
  FINDING(below_noise)

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
  for (const FindingRule& rule : finding_rules()) {
    const auto rule_for = of_attach(record) ? rule.judge_attach : rule.judge;
    if (!rule_for) continue;
    for (Finding& finding : rule_for(record)) findings.push_back(std::move(finding));
  }

  auto badness = [](const Finding& f) { return f.severity == "fail" ? 0 : f.severity == "warn" ? 1 : 2; };
  std::ranges::stable_sort(findings, {}, badness);
  return findings;
}

}
