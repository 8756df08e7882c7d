#pragma once
// What the sentences of findings have in common: where it was seen, and what is proven faster there.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_record.h"

namespace iotrace {

using RowIndexes = std::vector<std::uint32_t>;

// Rows that the predicate holds for, by strategy; indexes ascending.
std::map<std::string, RowIndexes> rows_by_strategy(const RunRecord& record,
                                                   const std::function<bool(const Row&)>& holds);

// "cold random T01 T04, warm random T01"; the read size too where the record has several. No strategies.
std::string name_cells(const RunRecord& record, const RowIndexes& rows);

// The same with the strategies: "mmap cold random T01 T04, pread warm random T01".
std::string name_rows_and_cells(const RunRecord& record, const RowIndexes& rows);

// "310 to 319", "44.4" where both ends read the same.
std::string range_text(double least, double most, const std::function<std::string(double)>& text);

// How many times as fast a strategy is as the rows beside it, over those rows: medians of the ratios.
struct Advantage {
  std::string strategy;
  double least = 0, most = 0;
};

// nullopt unless the strategy is proven faster beside each of these rows, on a machine whose times are some.
std::optional<Advantage> proven_faster(const RunRecord& record, std::string_view strategy,
                                       const RowIndexes& rows);

}
