#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/finding.h"
#include "analysis/reports/report.h"
#include "userspace/cases/case.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/nearest.h"
#include "userspace/cli/presets.h"
#include "userspace/patterns/pattern.h"
#include "userspace/probes/probe_set.h"
#include "userspace/strategies/strategy.h"

namespace iotrace {

namespace {

struct Entry {
  std::string_view name, summary;
};

template<typename Registry, typename Name> std::vector<Entry> entries(const Registry& registry, Name name) {
  std::vector<Entry> all;
  for (const auto& entry : registry) all.push_back({entry.*name, entry.summary});
  return all;
}

}

int list_command(const std::string& what) {
  constexpr std::string_view known[] = {"strategies", "cases",    "patterns", "presets",
                                        "probes",     "findings", "formats"};
  std::vector<Entry> all;
  if (what == "strategies")
    all = entries(strategies(), &Strategy::name);
  else if (what == "cases")
    all = entries(cases(), &Case::name);
  else if (what == "patterns")
    all = entries(patterns(), &Pattern::name);
  else if (what == "presets")
    all = entries(presets(), &Preset::name);
  else if (what == "probes")
    all = entries(probe_list(), &ProbeInfo::name);
  else if (what == "findings")
    all = entries(finding_rules(), &FindingRule::id);
  else if (what == "formats")
    all = entries(report_formats(), &ReportFormat::name);
  else
    return report_error(unknown_name("list", what, known));

  std::size_t width = 0;
  for (const Entry& entry : all) width = std::max(width, entry.name.size());
  for (const Entry& entry : all) fmt::print("{:{}}  {}\n", entry.name, width, entry.summary);
  return 0;
}

}
