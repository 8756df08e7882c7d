#include "userspace/controller/cells.h"

namespace iotrace {

namespace {

// Each cell once for each value of a list; as they are where the list is empty.
template<typename Value, typename Set>
void times(std::vector<Cell>& cells, const std::vector<Value>& values, Set set) {
  if (values.empty()) return;
  std::vector<Cell> product;
  for (const Cell& cell : cells)
    for (const Value& value : values) {
      product.push_back(cell);
      set(product.back(), value);
    }
  cells = std::move(product);
}

void set_rate(Cell& cell, const std::string& word, const std::string& arrivals) {
  cell.pace = "open";
  cell.arrivals = arrivals;
  const double number = std::stod(word);  // checked with the command line
  if (word.ends_with('%'))
    cell.rate_pct = number;
  else
    cell.rate = number;
}

}

std::vector<Cell> cells(const Options& options, const Pattern& pattern) {
  std::vector<Cell> all{{.align_bytes = options.align_bytes}};
  if (pattern.name == "hot-cold") {
    all[0].hot_size_bytes = options.hot_size_bytes;
    times(all, options.cold_pct, [](Cell& cell, double pct) { cell.cold_pct = pct; });
  }
  if (pattern.name == "zipf")
    times(all, options.zipf_theta, [](Cell& cell, double theta) { cell.zipf_theta = theta; });
  if (pattern.name == "strided")
    times(all, options.stride_bytes, [](Cell& cell, std::uint64_t bytes) { cell.stride_bytes = bytes; });
  times(all, options.memory_sweep, [](Cell& cell, double share) { cell.memory_of_file_ratio = share; });
  times(all, options.compute_ns, [](Cell& cell, std::uint64_t ns) { cell.compute_ns = ns; });
  times(all, options.write_pct, [](Cell& cell, double pct) { cell.write_pct = pct; });
  times(all, options.mmap_churn, [](Cell& cell, double rate) { cell.mmap_churn = rate; });
  times(all, options.rates,
        [&](Cell& cell, const std::string& word) { set_rate(cell, word, options.arrivals); });
  return all;
}

}
