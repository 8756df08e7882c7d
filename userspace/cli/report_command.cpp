#include <vector>

#include <fmt/format.h>

#include "analysis/reports/report.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/nearest.h"
#include "userspace/cli/read_record.h"
#include "userspace/cli/terminal.h"

namespace iotrace {

int report_command(const ReportWords& words) {
  const ReportFormat* format = nullptr;
  std::vector<std::string_view> names;
  for (const ReportFormat& known : report_formats()) {
    names.push_back(known.name);
    if (known.name == words.format) format = &known;
  }
  if (!format) return report_error(unknown_name("format", words.format, names));

  std::optional<Publication> reference;
  if (!words.reference.empty()) {
    auto found = publication(words.reference);
    if (!found) return report_error(found.error());
    reference = std::move(*found);
  }
  auto record = read_record(words.record, "report");
  if (!record) return report_error(record.error());
  if (auto possible = can_render(*format, *record); !possible) return report_error(possible.error());
  fmt::print("{}", format->render(*record, {.colour = wants_colour(),
                                            .histograms = words.histograms,
                                            .details = words.details,
                                            .reference = reference ? &*reference : nullptr}));
  return 0;
}

}
