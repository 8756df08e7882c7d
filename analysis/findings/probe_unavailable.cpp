// probe-unavailable: a probe that was asked for could not be attached, so what it would have shown is
// unknown, which is not the same as absent. Met in bcc PR 5560: on a new kernel a tool counts nothing, or the
// wrong thing. attach spares a process the probes that would slow it, which has a remedy of its own.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/findings/attached.h"
#include "analysis/findings/evidence.h"
#include "analysis/findings/finding.h"
#include "analysis/spared_probes.h"

namespace iotrace {

namespace {

struct Missing {
  std::set<std::string> probes;
  std::set<std::uint32_t> rows;
};

struct Words {
  std::string_view severity, became, remedy;
};

Words words_for(std::string_view reason) {
  if (reason.find(kOverLimit) != std::string_view::npos)
    return {"warn", "had to be switched off",
            "Allow it more by --max-overhead, or watch with fewer --probes."};
  if (reason.find(kLeftOut) != std::string_view::npos)
    return {"info", "had been left out", "Name it in --probes where its cost can be borne."};
  return {"warn", "did not attach", "Run iotrace doctor: it names what is missing here and what to do."};
}

std::vector<Finding> judge_probes(const RunRecord& record) {
  std::map<std::string, Missing> by_reason;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    for (const ProbeStatus& probe : record.rows[index].probes) {
      if (probe.variant) continue;
      Missing& missing = by_reason[probe.reason.value_or("no reason recorded")];
      missing.probes.insert(probe.name);
      missing.rows.insert(index);
    }

  std::vector<Finding> findings;
  for (const auto& [reason, missing] : by_reason) {
    const Words words = words_for(reason);
    const bool one = missing.probes.size() == 1;
    findings.push_back(
        {.id = "probe-unavailable",
         .severity = std::string(words.severity),
         .rows = {missing.rows.begin(), missing.rows.end()},
         .text = fmt::format("{} {} {}, so that {} numbers are unknown (not 0) and findings that need "
                             "them are silent: {}.",
                             one ? "probe" : "probes", fmt::join(missing.probes, ", "), words.became,
                             one ? "its" : "their", reason),
         .numbers = {{"probes", static_cast<double>(missing.probes.size())},
                     {"rows", static_cast<double>(missing.rows.size())}},
         .remedy = std::string(words.remedy),
         .source = "bcc PR 5560, issues 4700, 2366"});
  }
  return findings;
}

}

extern const FindingRule probe_unavailable;
const FindingRule probe_unavailable{"probe-unavailable",
                                    "a probe did not attach: what it would show is unknown", judge_probes,
                                    over_totals<judge_probes>};

}
