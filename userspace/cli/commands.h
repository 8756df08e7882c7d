#pragma once
// The commands of the program. Each returns its exit code: 0 measured, 1 failed, 2 usage, 3 this machine
// cannot.

#include <string>
#include <vector>

#include "analysis/result.h"
#include "userspace/cli/run_settings.h"

namespace CLI {
class App;
}

namespace iotrace {

int run_command(const RunWords& words);

struct AttachWords {
  std::vector<std::string> pids, probes;
  std::string comm, cgroup, output, textfile;
  double duration = 10, interval = 1;
  std::size_t top = 20;
  double max_overhead_pct = 5;
  bool follow = true, expect_hints = false, quiet = false, histograms = false;
};
// Declares the options of `attach` with their help.
void declare_attach_options(CLI::App& attach, AttachWords& words);
int attach_command(const AttachWords& words);

struct ReportWords {
  std::string record;  // a file, or "-" for standard input
  std::string format = "terminal";
  std::string reference;  // "lucene-16279:c6id"; empty: none
  bool histograms = false, details = false;
};
int report_command(const ReportWords& words);

// `what`: strategies, cases, patterns, probes or findings.
int list_command(const std::string& what);

// What works on this machine, as this user, in this folder; 3 if run can't do all that it is for.
int doctor_command();

// Prints "iotrace: MESSAGE" to standard error; returns the exit code of its kind.
int report_error(const Error& error);

}
