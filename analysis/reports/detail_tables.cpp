#include "analysis/reports/detail_tables.h"

#include <array>

namespace iotrace::wording {

std::vector<std::uint32_t> rows_in_detail(const RunRecord& record, const RowGroup& group) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t index : in_reading_order(record, group.rows))
    if (!record.rows[index].error && !record.rows[index].control) shown.push_back(index);
  return shown;
}

std::vector<ResponseTable> detail_tables(const RunRecord& record, const RowGroup& group) {
  static constexpr std::array kTables{device_reads,   readahead_windows, fault_details,
                                      longest_faults, lock_details,      memory_details};
  const Shown shown = rows_in_detail(record, group);
  std::vector<ResponseTable> tables;
  for (auto table_of : kTables)
    if (auto table = table_of(record, shown)) tables.push_back(std::move(*table));
  return tables;
}

}
