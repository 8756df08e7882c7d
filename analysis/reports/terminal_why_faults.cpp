// Faults on the file's pages by what happened.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/reports/terminal_why_parts.h"
#include "analysis/row_facts.h"

namespace iotrace::terminal {

namespace {

using Kind = std::optional<FaultClass> Faults::*;

constexpr std::array<std::pair<std::string_view, Kind>, 3> kKinds{
    {{"mapped", &Faults::mapped}, {"waited", &Faults::waited}, {"read", &Faults::read}}};

bool some_kind_known(const Faults& faults) {
  return faults.mapped || faults.waited || faults.read;
}

void add_fault_row(WhyTable& table, const Row& row, MissingNumbers& missing) {
  double ops = ops_of(row.traced);
  table.start_row(row);
  for (auto [name, kind] : kKinds) {
    const auto& faults = (*row.faults).*kind;
    table.add(faults && ops > 0 ? three_digits(static_cast<double>(faults->count) / ops)
                                : missing.mark(row, fmt::format("faults.{}", name), name));
  }
  for (auto [name, kind] : kKinds) {
    const auto& faults = (*row.faults).*kind;
    auto p99 = faults ? faults->lat_ns.percentile(0.99) : std::nullopt;
    if (faults)
      table.add(p99 ? human_ns(static_cast<double>(*p99)) : "");
    else
      table.add(missing.mark(row, fmt::format("faults.{}", name), name));
  }
  const Faults& faults = *row.faults;
  if (!faults.under_mmap_lock || !faults.under_vma_lock) {
    table.add(missing.mark(row, "faults.under_mmap_lock", "under mmap_lock"));
  } else {
    auto under = static_cast<double>(*faults.under_mmap_lock);
    double all = under + static_cast<double>(*faults.under_vma_lock);
    table.add(all > 0 ? percent(under / all) : "");
  }
}

}

std::string fault_table(const WhyRows& rows, MissingNumbers& missing) {
  WhyTable table({{"mapped\n/op"},
                  {"waited\n/op"},
                  {"read\n/op"},
                  {"mapped\np99"},
                  {"waited\np99"},
                  {"read\np99"},
                  {"under\nmmap_lock"}});
  std::vector<std::uint32_t> without, unknown;
  for (std::uint32_t index : rows.shown) {
    const Row& row = rows.row(index);
    if (!row.faults || !some_kind_known(*row.faults))
      unknown.push_back(index);
    else if (faults_on_file(*row.faults) == 0)
      without.push_back(index);
    else
      add_fault_row(table, row, missing);
  }
  std::string out = "\nfaults on the file's pages\n";
  if (!table.empty()) out += table.render(rows.options);
  if (!without.empty()) out += note("none: " + name_rows(rows.record, without));
  if (!unknown.empty())
    out += note(fmt::format("not known: {}: {}", name_rows(rows.record, unknown),
                            reason_missing(rows.row(unknown.front()), "faults.read")));
  return out;
}

}
