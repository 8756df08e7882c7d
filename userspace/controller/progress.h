#pragma once
// One line on the terminal that says what is going on, for how long, and how long it will take. Nothing at
// all where standard error is not a terminal.

#include <chrono>
#include <cstddef>
#include <string_view>

namespace iotrace {

class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;

  // Starts a phase whose parts take about equally long.
  void phase(std::string_view name, std::size_t parts);
  // `done` parts of the phase are over; `detail` says what comes next.
  void show(std::size_t done, std::string_view detail);
  void clear();

private:
  bool terminal_;
  std::string_view name_;
  std::size_t parts_ = 0;
  std::chrono::steady_clock::time_point started_, drawn_;
  bool shown_ = false;
};

}
