#pragma once
// Which files of a target have series of their own: the twenty that wait longest, so that a process with
// thousands of files doesn't fill a Prometheus server. All others are one series, "other".
//
// The twenty change while iotrace watches, and yet no series may ever fall: Prometheus would take that for a
// restart and add what was counted before once more. So each step of a count goes where its file stands at
// that moment, and stays there: "other" keeps what a file had counted before it got its own series, and a
// file that leaves the twenty and comes back goes on where its series ended. The sum of all rates is the
// target's rate at any time.

#include <map>
#include <string>
#include <vector>

#include "analysis/reports/file_numbers.h"

namespace iotrace {

inline constexpr std::size_t kNamedFiles = 20;
inline constexpr std::string_view kOtherFiles = "other";

class FileSeries {
public:
  struct Series {
    std::string file;       // the path as label_text() leaves it; kOtherFiles last
    std::string extension;  // of "other": empty
    Numbers counters, gauges;
  };

  // Takes the next record of a watch, whose counts are sums since it began, and returns its series.
  std::vector<Series> update(const RunRecord& record);

private:
  // A label's history: files of one path (deleted and written anew) share it.
  struct History {
    Numbers counted;  // sums of its files at the last update
    Numbers named;    // what of them was counted while it had a series
  };

  std::map<std::string, History> histories_;
  Numbers other_;
  Numbers beside_;  // what the totals hold beyond all files
};

}
