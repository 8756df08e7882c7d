#pragma once
// What the probes' own programs cost, in samples: the kernel times BPF programs for a tenth of a second in
// each second, as timing itself costs about as much as they do. When in the second is drawn by chance, so
// that work in bursts, or in step with the clock, is seen as often as it is there.

#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "userspace/probes/watch_set.h"

namespace iotrace {

class CostSamples {
public:
  using Clock = std::chrono::steady_clock;

  // A probe whose programs took more than they may, in the last samples together.
  struct Dear {
    std::string probe;
    double ratio;  // of one processor
  };

  //   watch_s    how long it will be, seconds; 0: not known
  //   max_ratio  of one processor, for one probe's programs
  CostSamples(double watch_s, double max_ratio);

  // Begins or ends a sample, where it is time to. The probes told are judged no further.
  //   errors  why programs can't be timed; asked no more then
  Result<std::vector<Dear>> look(WatchSet& probes);

  // When to look again.
  Clock::time_point next() const { return next_; }

  // Of one processor, all programs, the clock's own cost taken off. nullopt: no sample.
  std::optional<double> ratio() const;
  // That were timed.
  double seconds() const { return seconds_; }

private:
  std::vector<Dear> take(const std::vector<WatchSet::Cost>& costs, double seconds);
  void plan_next();

  double max_ratio_;
  double clock_ns_;
  Clock::duration period_;
  Clock::time_point period_begin_, sample_begin_, next_;
  bool timing_ = false;
  double spent_s_ = 0, seconds_ = 0;
  std::map<std::string, std::vector<double>> last_;  // ratios by probe
  std::minstd_rand random_{std::random_device{}()};
};

}
