#include "userspace/attach/cost_samples.h"

#include <algorithm>
#include <numeric>

namespace iotrace {

namespace {

constexpr auto kSample = std::chrono::milliseconds(100);
constexpr auto kLate = std::chrono::milliseconds(20);  // a watch's last sample may end so late
constexpr std::size_t kSamplesTogether = 3;

double seconds_of(CostSamples::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// What it takes to read the clock: of each run of a program the kernel's timing of it contains that once.
double clock_read_ns() {
  constexpr int kReads = 1000;
  const auto begun = CostSamples::Clock::now();
  for (int read = 0; read < kReads; ++read) static_cast<void>(CostSamples::Clock::now());
  return 1e9 * seconds_of(CostSamples::Clock::now() - begun) / kReads;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}

CostSamples::CostSamples(double watch_s, double max_ratio)
    : max_ratio_(max_ratio), clock_ns_(clock_read_ns()), period_(std::chrono::seconds(1)),
      period_begin_(Clock::now()) {
  if (watch_s > 0 && watch_s < 1)
    period_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(watch_s));
  plan_next();
}

void CostSamples::plan_next() {
  const auto room = std::max<Clock::duration>(period_ - kSample - kLate, Clock::duration::zero());
  next_ =
      period_begin_ + Clock::duration(std::uniform_int_distribution<Clock::rep>(0, room.count())(random_));
}

Result<std::vector<CostSamples::Dear>> CostSamples::look(WatchSet& probes) {
  const auto now = Clock::now();
  if (now < next_) return std::vector<Dear>();
  if (!timing_) {
    if (Status started = probes.start_measuring_cost(); !started) {
      next_ = Clock::time_point::max();
      return started.error();
    }
    timing_ = true;
    sample_begin_ = Clock::now();
    next_ = sample_begin_ + kSample;
    return std::vector<Dear>();
  }
  timing_ = false;
  const double seconds = seconds_of(Clock::now() - sample_begin_);
  std::vector<Dear> dear = take(probes.stop_measuring_cost(), seconds);
  period_begin_ = std::max(period_begin_ + period_, now);
  plan_next();
  return dear;
}

std::vector<CostSamples::Dear> CostSamples::take(const std::vector<WatchSet::Cost>& costs, double seconds) {
  std::vector<Dear> dear;
  seconds_ += seconds;
  for (const WatchSet::Cost& cost : costs) {
    const auto ns = static_cast<double>(cost.ns);
    const double spent_s = (ns - std::min(ns, static_cast<double>(cost.runs) * clock_ns_)) / 1e9;
    spent_s_ += spent_s;
    std::vector<double>& last = last_[cost.probe];
    last.push_back(spent_s / seconds);
    if (last.size() > kSamplesTogether) last.erase(last.begin());
    if (last.size() == kSamplesTogether && mean(last) > max_ratio_) {
      dear.push_back({cost.probe, mean(last)});
      last.clear();
    }
  }
  return dear;
}

std::optional<double> CostSamples::ratio() const {
  return seconds_ > 0 ? std::optional(spent_s_ / seconds_) : std::nullopt;
}

}
