#pragma once
// Why numbers of a table print as "-": collected while it is filled, told below it.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

// Why the number is not in the row: its own reason, else that of its group ("faults.read", then "faults"),
// else what the row itself shows.
std::string reason_missing(const Row& row, std::string_view key);

class MissingNumbers {
public:
  // Remembers the reason and returns kNotAvailable.
  //   key     as in Row::unavailable
  //   column  what the reader sees at its head
  std::string mark(const Row& row, std::string_view key, std::string_view column);

  // One entry per reason: "under mmap_lock, p99: probe faults not attached".
  std::vector<std::string> reasons() const;

private:
  // In order of appearance, so that the notes follow the columns.
  std::vector<std::pair<std::string, std::vector<std::string>>> columns_by_reason_;
};

}
