#include "analysis/reports/file_series.h"

#include <algorithm>

#include "analysis/reports/exposition.h"

namespace iotrace {

namespace {

// What was counted since. A sum that fell has begun anew.
Numbers steps(const Numbers& before, const Numbers& now) {
  Numbers steps(now.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Count last = i < before.size() ? before[i].value_or(0) : 0;
    if (now[i]) steps[i] = *now[i] >= last ? *now[i] - last : *now[i];
  }
  return steps;
}

// What `total` holds beyond `files`, never less than before: the two are not read at one instant.
Numbers beyond(const Numbers& total, const Numbers& files, const Numbers& before) {
  Numbers rest(total.size());
  for (std::size_t i = 0; i < total.size(); ++i) {
    if (!total[i]) continue;
    const Count known = i < files.size() ? files[i].value_or(0) : 0;
    const Count last = i < before.size() ? before[i].value_or(0) : 0;
    rest[i] = std::max(last, *total[i] - std::min(*total[i], known));
  }
  return rest;
}

// One series a path, most waiting first as the record has them.
std::vector<FileSeries::Series> by_path(const std::vector<AttachedFile>& files) {
  std::vector<FileSeries::Series> series;
  std::map<std::string, std::size_t> places;
  for (const AttachedFile& file : files) {
    const auto [place, first] = places.emplace(label_text(file.path), series.size());
    if (first) series.push_back({.file = place->first, .extension = file.extension});
    add(series[place->second].counters, numbers_of(file_counters(), groups_of(file)));
    add(series[place->second].gauges, numbers_of(file_gauges(), groups_of(file)));
  }
  return series;
}

}

std::vector<FileSeries::Series> FileSeries::update(const RunRecord& record) {
  std::vector<Series> named, files = by_path(record.files);
  Series other{.file = std::string(kOtherFiles)};
  other.gauges.resize(file_gauges().size());
  Numbers all_files;
  std::map<std::string, History> histories;
  for (Series& file : files) {
    History& history = histories[file.file] = std::move(histories_[file.file]);
    const Numbers step = steps(history.counted, file.counters);
    add(all_files, file.counters);
    history.counted = std::move(file.counters);
    if (named.size() < kNamedFiles && file.file != kOtherFiles) {
      add(history.named, step);
      file.counters = history.named;
      named.push_back(std::move(file));
    } else {
      add(other_, step);
      add(other.gauges, file.gauges);
    }
  }
  histories_ = std::move(histories);

  if (record.totals) {
    const Numbers rest = beyond(numbers_of(file_counters(), groups_of(*record.totals)), all_files, beside_);
    add(other_, steps(beside_, rest));
    beside_ = rest;
  }
  other.counters = other_;
  other.counters.resize(file_counters().size());
  named.push_back(std::move(other));
  return named;
}

}
