#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "analysis/findings/finding.h"
#include "analysis/record_json.h"
#include "analysis/reports/live.h"
#include "analysis/reports/openmetrics.h"
#include "analysis/reports/report.h"
#include "userspace/attach/textfile.h"
#include "userspace/attach/watch.h"
#include "userspace/cli/commands.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/terminal.h"
#include "userspace/controller/interrupt.h"
#include "userspace/controller/record_file.h"

namespace iotrace {

namespace {

constexpr std::size_t kLiveFiles = 8;
constexpr double kMostPid = 1 << 22;  // include/linux/threads.h, PID_MAX_LIMIT

const ReportFormat& format_called(std::string_view name) {
  return *std::ranges::find(report_formats(), name, &ReportFormat::name);
}

Result<WatchRequest> request_from(const AttachWords& words) {
  WatchRequest request;
  for (const std::string& word : words.pids) {
    const auto pid = parse_number(word, 1, kMostPid);
    if (!pid || *pid != std::floor(*pid))
      return usage_error(fmt::format("-p {}: not a process number", word));
    request.targets.pids.push_back(static_cast<pid_t>(*pid));
  }
  request.targets.comm = words.comm;
  request.targets.cgroup = words.cgroup;
  if (words.pids.empty() && words.comm.empty() && words.cgroup.empty())
    return usage_error("attach to whom? Name it by -p PID, --comm NAME or --cgroup PATH");
  if (words.duration < 0) return usage_error("-d: seconds, or 0 to watch until Ctrl-C");
  if (words.interval < 0.1) return usage_error("-i: seconds between two lines, 0.1 at least");
  if (words.top == 0) return usage_error("--top: 1 at least");
  if (!(words.max_overhead_pct > 0)) return usage_error("--max-overhead: percent of a processor, above 0");
  auto logs = log_settings(words.logs, words.output, words.probes);
  if (!logs) return logs.error();
  request.logs = *logs;
  request.follow = words.follow;
  request.seconds = words.duration;
  request.interval_s = words.interval;
  request.max_overhead_ratio = words.max_overhead_pct / 100;
  request.expect_hints = words.expect_hints;
  request.probes = words.probes;
  return request;
}

// One line a second where output is piped, a table redrawn in place on a terminal; nothing if told so.
class LiveView {
public:
  explicit LiveView(std::size_t top) : top_(top), redraws_(isatty(STDERR_FILENO) != 0) {}

  void show(const RunRecord& so_far, const Interval& last) {
    if (!redraws_) {
      fmt::print(stderr, "{}\n", live_line(last));
      return;
    }
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const std::string table = live_table(so_far, top_, known ? size.ws_col : 80);
    clear();
    fmt::print(stderr, "{}", table);
    lines_ = static_cast<std::size_t>(std::ranges::count(table, '\n'));
  }

  void clear() {
    if (lines_ > 0) fmt::print(stderr, "\033[{}A\033[J", lines_);
    lines_ = 0;
  }

private:
  std::size_t top_;
  bool redraws_;
  std::size_t lines_ = 0;
};

Status save(const RunRecord& record, const std::string& path) {
  return path.empty() ? Status() : write_record_file(path, to_json_text(record));
}

Status attach(const AttachWords& words) {
  auto request = request_from(words);
  if (!request) return request.error();
  if (!words.output.empty())
    if (Status writable = check_record_path(words.output); !writable) return writable;
  std::optional<Textfile> textfile;
  if (!words.textfile.empty()) {
    auto opened = Textfile::make(words.textfile);
    if (!opened) return opened.error();
    textfile.emplace(std::move(*opened));
  }

  watch_for_interrupts();
  LiveView live(kLiveFiles);
  WatchMetrics metrics;
  bool warned = false;
  auto record = watch(*request, [&](const RunRecord& so_far, const Interval& last) -> Status {
    if (!words.quiet) live.show(so_far, last);
    if (!textfile) return {};
    Status written = textfile->write(metrics.render(so_far));
    if (!written && !warned) report_error(written.error());  // the next one may succeed
    warned = !written;
    return {};
  });
  live.clear();
  if (!record) return record.error();
  record->findings = judge(*record);
  Status saved = save(*record, words.output);
  fmt::print("{}", format_called("terminal")
                       .render(*record,
                               {.colour = wants_colour(), .histograms = words.histograms, .top = words.top}));
  return saved;
}

}

void declare_attach_options(CLI::App& attach, AttachWords& words) {
  attach.add_option("-p,--pid", words.pids, "Processes to watch, by number")->delimiter(',');
  attach.add_option("--comm", words.comm, "Every process of this name");
  attach.add_option("--cgroup", words.cgroup,
                    "Every process of this cgroup: its folder, or its path as in /proc/PID/cgroup");
  attach.add_option("-d,--duration", words.duration, "Seconds to watch (10); 0: until Ctrl-C");
  attach.add_option("-i,--interval", words.interval, "Seconds between two lines of the live view (1)");
  attach.add_option("-o,--output", words.output, "Write the record (JSON) to this file");
  attach.add_option("--top", words.top, "Files and threads that the report names (20)");
  attach.add_flag("--follow,!--no-follow", words.follow, "Watch the children that targets fork, too (on)");
  attach.add_option(
      "--textfile", words.textfile,
      "Replace this file with OpenMetrics at each interval, for node_exporter's textfile collector");
  attach
      .add_option("--max-overhead", words.max_overhead_pct,
                  "Switch a probe off that takes more percent of a processor than this (5)")
      ->transform(CLI::Validator(
          [](std::string& word) {
            if (word.ends_with('%')) word.pop_back();
            return std::string();
          },
          ""));
  attach.add_flag("--expect-hints", words.expect_hints,
                  "The target should be giving hints: say so if it does not");
  attach.add_option("--probes", words.probes, "Names of probes (all); see iotrace list probes")
      ->delimiter(',');
  declare_log_options(attach, words.logs, "the attach");
  attach.add_flag("--quiet", words.quiet, "No live view");
  attach.add_flag("--histograms", words.histograms, "Show latency histograms");
}

int attach_command(const AttachWords& words) {
  Status done = attach(words);
  return done ? 0 : report_error(done.error());
}

}
