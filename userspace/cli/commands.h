#pragma once
// The commands of the program. Each returns its exit code: 0 measured, 1 failed, 2 usage, 3 this machine
// cannot.

#include <string>

#include "analysis/result.h"
#include "userspace/cli/run_settings.h"

namespace iotrace {

int run_command(const RunWords& words);

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
