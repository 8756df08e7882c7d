#include <string_view>

#include "analysis/reports/openmetrics_parts.h"

namespace iotrace {

namespace {

void add_list(Exposition& metrics, std::span<const FileNumber> list,
              const std::vector<FileSeries::Series>& files, Numbers FileSeries::Series::*numbers,
              void (Exposition::*begin)(std::string_view, std::string_view)) {
  std::string_view metric;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const FileNumber& entry = list[i];
    if (metric != entry.metric) (metrics.*begin)(metric = entry.metric, entry.help);
    for (const FileSeries::Series& file : files) {
      Labels labels{{"file", file.file}, {"extension", file.extension}};
      if (entry.label) labels.emplace_back(entry.label, entry.value);
      const std::optional<Count> number = (file.*numbers)[i];
      if (entry.per_unit == 1)
        metrics.sample(number, labels);
      else if (number)
        metrics.sample(static_cast<double>(*number) / entry.per_unit, labels);
    }
  }
}

}

void add_file_metrics(Exposition& metrics, const std::vector<FileSeries::Series>& files) {
  add_list(metrics, file_counters(), files, &FileSeries::Series::counters, &Exposition::counter);
  add_list(metrics, file_gauges(), files, &FileSeries::Series::gauges, &Exposition::gauge);
}

}
