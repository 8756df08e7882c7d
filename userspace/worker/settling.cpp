#include "userspace/worker/settling.h"

#include <cmath>
#include <numeric>

namespace iotrace {

bool settled(std::span<const double> rates) {
  if (rates.size() < kSettlingSlices) return false;
  rates = rates.last(kSettlingSlices);
  const auto n = static_cast<double>(kSettlingSlices);
  const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / n;
  if (mean <= 0) return false;

  const double middle = (n - 1) / 2;
  double s_xx = 0, s_xy = 0;
  for (std::size_t i = 0; i < kSettlingSlices; ++i) {
    const double x = static_cast<double>(i) - middle;
    s_xx += x * x;
    s_xy += x * (rates[i] - mean);
  }
  const double slope = s_xy / s_xx;
  if (std::abs(slope) * (n - 1) < kSettledDrift * mean) return true;

  double residuals = 0;
  for (std::size_t i = 0; i < kSettlingSlices; ++i) {
    const double off = rates[i] - mean - slope * (static_cast<double>(i) - middle);
    residuals += off * off;
  }
  return std::abs(slope) <= 2 * std::sqrt(residuals / (n - 2) / s_xx);
}

}
