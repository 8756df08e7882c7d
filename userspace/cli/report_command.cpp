#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "analysis/reports/report.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/nearest.h"
#include "userspace/cli/read_record.h"
#include "userspace/cli/terminal.h"
#include "userspace/controller/record_file.h"

namespace iotrace {

namespace {

constexpr std::string_view kStandardStream = "-";

// The one that was asked for by name, else the one that the output's extension stands for.
Result<const ReportFormat*> chosen_format(const ReportWords& words) {
  std::vector<std::string_view> names, extensions;
  for (const ReportFormat& known : report_formats()) {
    names.push_back(known.name);
    if (!known.extension.empty()) extensions.push_back(known.extension);
    if (known.name == words.format) return &known;
  }
  if (!words.format.empty()) return unknown_name("format", words.format, names);
  if (words.output == kStandardStream) return &report_formats().front();
  if (const ReportFormat* by_extension = format_for(words.output)) return by_extension;
  return usage_error(fmt::format("-o {}: no format goes by that extension; name the file {}, or add --format",
                                 words.output, fmt::join(extensions, ", ")));
}

// errors   usage: nothing can be written there, or the record itself is there
Status check_output(const ReportWords& words) {
  std::error_code missing;
  if (std::filesystem::equivalent(words.record, words.output, missing) &&
      std::filesystem::is_regular_file(words.output, missing))
    return usage_error(fmt::format("-o {}: is the record itself; name another file", words.output));
  return check_record_path(words.output);
}

Status print_whole(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return errno_error("write the report to standard output", errno);
}

}

int report_command(const ReportWords& words) {
  auto format = chosen_format(words);
  if (!format) return report_error(format.error());
  const bool to_file = words.output != kStandardStream;
  if (to_file)
    if (auto possible = check_output(words); !possible) return report_error(possible.error());

  std::optional<Publication> reference;
  if (!words.reference.empty()) {
    auto found = publication(words.reference);
    if (!found) return report_error(found.error());
    reference = std::move(*found);
  }
  auto record = read_record(words.record, "report");
  if (!record) return report_error(record.error());
  if (auto possible = can_render(**format, *record); !possible) return report_error(possible.error());
  const std::string report = (*format)->render(*record, {.colour = !to_file && wants_colour(),
                                                         .histograms = words.histograms,
                                                         .details = words.details,
                                                         .reference = reference ? &*reference : nullptr});
  if (auto written = to_file ? write_record_file(words.output, report) : print_whole(report); !written)
    return report_error(written.error());
  return 0;
}

}
