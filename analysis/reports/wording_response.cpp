// An open loop has no fastest: its throughput is what was asked of it. What tells its rows apart is how long
// an op takes from the moment at which it was meant to start (scenario S17).

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/reports/wording.h"

namespace iotrace::wording {

namespace {

// Above this share the queue grows for as long as the window lasts, and the percentiles with it.
constexpr double kOverloaded = 0.01;

struct Served {
  Count ops = 0, unserved = 0;
  double seconds = 0;

  Count due() const { return ops + unserved; }
  double unserved_ratio() const {
    return due() > 0 ? static_cast<double>(unserved) / static_cast<double>(due()) : 0;
  }
};

Served served_of(const Row& row) {
  Served served;
  if (const Measurement* measured = throughput_measurement(row))
    for (const Repetition& rep : measured->reps) {
      served.ops += rep.ops;
      served.unserved += rep.unserved.value_or(0);
      served.seconds += rep.seconds;
    }
  return served;
}

// At the end of a window each thread may have an arrival that waits for it, without being overloaded.
bool overloaded(const Row& row, const Served& served) {
  const Measurement* measured = throughput_measurement(row);
  const Count by_chance = measured ? measured->reps.size() * row.threads : 0;
  return served.unserved > by_chance && served.unserved_ratio() > kOverloaded;
}

std::string percentile(const std::optional<Histogram>& latencies, double q) {
  auto ns = latencies ? latencies->percentile(q) : std::nullopt;
  return ns ? human_ns(static_cast<double>(*ns)) : std::string(kNotAvailable);
}

std::vector<std::string> line_of(const Row& row) {
  const Served served = served_of(row);
  auto per_second = [&](double ops) {
    return served.seconds > 0 ? three_digits(ops / served.seconds) : std::string(kNotAvailable);
  };
  return {row_name(row),
          threads_name(row.threads),
          row.cell.rate ? three_digits(*row.cell.rate) : std::string(kNotAvailable),
          per_second(static_cast<double>(served.ops)),
          percentile(row.service_ns, 0.5),
          percentile(row.service_ns, 0.99),
          percentile(row.response_ns, 0.5),
          percentile(row.response_ns, 0.99),
          percentile(row.response_ns, 0.999),
          served.unserved == 0 ? "" : percent(served.unserved_ratio())};
}

}

ResponseTable response_table(const RunRecord& record, const RowGroup& group) {
  ResponseTable table{.columns = {"strategy", "threads", "asked\nops/s", "served\nops/s", "service\np50",
                                  "service\np99", "response\np50", "response\np99", "response\np99.9",
                                  "not\nserved"}};
  std::set<std::string> over;
  for (std::uint32_t index : in_reading_order(record, group.rows)) {
    const Row& row = record.rows[index];
    const Measurement* measured = throughput_measurement(row);
    if (row.error || !measured) continue;
    over.insert(counted(measured->reps.size(), "repetition") +
                (measured == (row.untraced ? &*row.untraced : nullptr) ? " without probes" : " with probes"));
    table.lines.push_back(line_of(row));
    if (const Served served = served_of(row); overloaded(row, served))
      table.sentences.push_back(fmt::format("overloaded: {}: {} of arrivals not served in the window. Its "
                                            "percentiles are of those that were, and "
                                            "grow with --duration.",
                                            name_rows(record, {index}), percent(served.unserved_ratio())));
  }
  table.heading = fmt::format(
      "response: latency from the intended start of an op, its wait for a free thread included; service: "
      "from its actual start. {} per row. No row is fastest: the rate is given.",
      over.empty() ? "No repetition" : fmt::format("{}", fmt::join(over, " or ")));
  std::ranges::move(state_sentences(record, group), std::back_inserter(table.sentences));
  return table;
}

}
