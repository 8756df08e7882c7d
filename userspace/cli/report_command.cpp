#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "analysis/record_json.h"
#include "analysis/reports/report.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/nearest.h"
#include "userspace/cli/terminal.h"
#include "userspace/unique_fd.h"

namespace iotrace {

namespace {

Result<std::string> read_all(const std::string& path) {
  UniqueFd opened;
  int fd = STDIN_FILENO;
  if (path != "-") {
    opened.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) {
      Error error = errno_error("open " + path, errno, "report needs a record that run -o has written");
      error.kind = ErrorKind::kUsage;
      return error;
    }
    fd = opened.get();
  }
  std::string text;
  std::vector<char> chunk(1 << 16);
  for (;;) {
    ssize_t length = read(fd, chunk.data(), chunk.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0)
      return errno_error("read " + path, errno, "report needs a record that run -o has written");
    if (length == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(length));
  }
}

}

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
  auto text = read_all(words.record);
  if (!text) return report_error(text.error());
  auto record = from_json_text(*text);
  if (!record) return report_error({words.record + ": " + record.error().message, record.error().kind});
  if (auto possible = can_render(*format, *record); !possible) return report_error(possible.error());
  fmt::print("{}", format->render(*record, {.colour = wants_colour(),
                                            .histograms = words.histograms,
                                            .details = words.details,
                                            .reference = reference ? &*reference : nullptr}));
  return 0;
}

}
