#pragma once
// --stacks and --window, of run and of attach.

#include <string>
#include <vector>

#include "analysis/result.h"
#include "userspace/probes/probe_set.h"

namespace CLI {
class App;
}

namespace iotrace {

// The words as they stand on the command line.
struct LogWords {
  bool stacks = false;
  std::string window;  // "2s"; empty: none
};

// Declares both with their help.
//   since  what the window follows: "the attach"
void declare_log_options(CLI::App& command, LogWords& words, const std::string& since);

//   output  of -o; without it nobody could read what is kept
//   probes  as named by --probes; empty: all
//   errors  usage
Result<Logs> log_settings(const LogWords& words, const std::string& output,
                          const std::vector<std::string>& probes);

}
