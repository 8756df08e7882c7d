// A comparison for programs: every pair with its statistics and all counters that both rows have.

#include <nlohmann/json.hpp>

#include "analysis/compare/compare_report.h"
#include "analysis/compare/wording.h"

namespace iotrace {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

template<typename T> Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json estimate(const Estimate& of) {
  return {{"median", or_null(of.median)}, {"low", or_null(of.low)}, {"high", or_null(of.high)}, {"n", of.n}};
}

Json throughput(const Row& row) {
  const Measurement* measurement = throughput_measurement(row);
  return measurement ? estimate(measurement->ops_per_ms) : Json(nullptr);
}

Json place(RowPlace place) {
  return {{"record", place.record}, {"row", place.row}};
}

Json cell_of(const Row& row) {
  return {{"strategy", row.strategy},
          {"case", row.case_name},
          {"pattern", row.pattern},
          {"threads", row.threads},
          {"read_size_bytes", row.read_size_bytes},
          {"reads_per_op", row.reads_per_op}};
}

Json difference_of(const Comparison& all, const Difference& difference) {
  Json json = place(difference.place);
  json.update(cell_of(all.row(difference.place)));
  json["ops_per_ms"] = throughput(all.row(difference.place));
  json["ratio"] = estimate(difference.ratio);
  json["p_adjusted"] = or_null(difference.p_adjusted);
  json["verdict"] = compare_wording::verdict_name(difference.verdict);
  json["reason"] = difference.reason.empty() ? Json(nullptr) : Json(difference.reason);
  json["moved"] = difference.moved;
  Json counters = Json::object();
  for (const CounterChange& change : difference.counters)
    counters[std::string(change.counter->key)] = {{"from", change.from}, {"to", change.to}};
  json["counters"] = std::move(counters);
  return json;
}

Json cells_of(const Comparison& all) {
  Json cells = Json::array();
  for (const CellTable& table : all.tables)
    for (const ComparedCell& cell : table.cells) {
      Json base = place(cell.base);
      base.update(cell_of(all.row(cell.base)));
      base["ops_per_ms"] = throughput(all.row(cell.base));
      Json against = Json::array();
      for (const Difference& difference : cell.against) against.push_back(difference_of(all, difference));
      cells.push_back({{"title", table.title}, {"base", std::move(base)}, {"against", std::move(against)}});
    }
  return cells;
}

std::string render_json(const Comparison& all, const CompareOptions&) {
  Json records = Json::array();
  for (const auto& [name, record, more] : all.records)
    records.push_back({{"name", name},
                       {"more_sessions", more},
                       {"started", record.started},
                       {"iotrace", record.iotrace},
                       {"kernel", record.host.kernel},
                       {"seed", record.seed},
                       {"partial", record.partial}});
  Json means = Json::array();
  for (const GeometricMean& mean : all.means)
    means.push_back({{"record", mean.record},
                     {"value", mean.value.empty() ? Json(nullptr) : Json(mean.value)},
                     {"ratio", mean.ratio},
                     {"cells", mean.cells}});
  Json unmatched = Json::array();
  for (RowPlace at : all.unmatched) {
    Json json = place(at);
    json.update(cell_of(all.row(at)));
    unmatched.push_back(std::move(json));
  }
  Json differences = Json::array();
  for (const RecordDifference& difference : all.differences)
    differences.push_back({{"what", difference.what}, {"values", difference.values}});
  Json json{{"compare_version", kVersion},
            {"by", all.by ? Json(name_of(*all.by)) : Json(nullptr)},
            {"tests", all.tests},
            {"records", std::move(records)},
            {"cells", cells_of(all)},
            {"geometric_means", std::move(means)},
            {"unmatched", std::move(unmatched)},
            {"differences", std::move(differences)},
            {"warnings", all.warnings}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}

extern const CompareFormat json_comparison;
const CompareFormat json_comparison{"json", render_json};

}
