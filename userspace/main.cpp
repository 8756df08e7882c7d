// The command line: one subcommand each, handed on to userspace/cli/.

#include <cstring>

#include <CLI/CLI.hpp>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include "userspace/cli/commands.h"
#include "userspace/worker/worker_main.h"

namespace {

constexpr const char* kExamples = R"(Examples:
  sudo iotrace run                                    a quick look: 512 MiB scratch file, under 2 minutes
  sudo iotrace run --file index.bin --case cold --threads 1,4,16 -o cold.json
  sudo iotrace run --size 1G --case cold --strategy mmap-random,mmap-random-willneed,pread
  sudo iotrace run --case cold --strategy mmap-random-willneed-misaligned,mmap-random   a known bug, shown
  sudo iotrace attach -p 4711 -d 30                   what a running process waits for, by file and thread
  iotrace run --probes off                            throughput alone, without root
  iotrace report cold.json                            the report again, from the record
  iotrace list strategies
  sudo iotrace doctor                                 what works here, and what a gap costs

Exit codes: 0 measured, 1 failed, 2 usage, 3 this machine or user cannot.)";

}

int main(int argc, char** argv) {
  using namespace iotrace;
  // The controller starts itself again as the worker; not for people.
  if (argc == 2 && std::strcmp(argv[0], "iotrace-worker") == 0 && std::strcmp(argv[1], "worker") == 0)
    return worker_main();

  libbpf_set_print(nullptr);  // its messages come out only as reasons, where LibbpfMessages catches them

  CLI::App app("iotrace: which way of reading a file is fastest here, and why");
  app.footer(kExamples);
  app.set_version_flag("--version", "iotrace " IOTRACE_VERSION);
  app.require_subcommand(1);

  RunWords run_words;
  CLI::App* run =
      app.add_subcommand("run", "Measure read strategies in proven cache states, with probes beside them");
  declare_run_options(*run, run_words);

  AttachWords attach_words;
  CLI::App* attach = app.add_subcommand("attach", "Say what running processes do to the page cache, and why");
  declare_attach_options(*attach, attach_words);

  ReportWords report_words;
  CLI::App* report = app.add_subcommand("report", "Render a record");
  report->add_option("record", report_words.record, "A record from run -o, or - for standard input")
      ->required();
  report->add_option("--format", report_words.format,
                     "terminal, markdown, jmh, or json (the findings alone)");
  report->add_option("--reference", report_words.reference,
                     "Set published results beside the rows: lucene-16279, lucene-16145, lucene-16044 or "
                     "lkml-2002, then a colon and a platform, as in lucene-16279:c6id");
  report->add_flag("--histograms", report_words.histograms, "Show latency histograms");
  report->add_flag("--details", report_words.details,
                   "Show requests to the device, readahead windows, locks, memory and the longest faults");

  std::string list_what;
  CLI::App* list =
      app.add_subcommand("list", "List strategies, cases, patterns, presets, probes, findings or formats");
  list->add_option("what", list_what, "strategies, cases, patterns, presets, probes, findings or formats")
      ->required();

  CLI::App* doctor =
      app.add_subcommand("doctor", "Say what works on this machine, what does not, and what that costs");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    return report_error(usage_error(fmt::format("{} (see iotrace --help)", e.what())));
  }
  if (*run) return run_command(run_words);
  if (*attach) return attach_command(attach_words);
  if (*doctor) return doctor_command();
  if (*report) return report_command(report_words);
  return list_command(list_what);
}
