#pragma once
// What tests ask of a record that iotrace wrote (JSON): its rows by strategy, its findings by id.

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace iotrace::test {

// Position of the strategy's row that is not the A/A control. Fails the test where there is none.
inline std::size_t row_index(const nlohmann::json& record, const std::string& strategy) {
  const nlohmann::json& rows = record["rows"];
  for (std::size_t index = 0; index < rows.size(); ++index)
    if (rows[index]["strategy"] == strategy && rows[index]["control"] == false) return index;
  FAIL("no row " << strategy);
  return 0;
}

inline const nlohmann::json& row_of(const nlohmann::json& record, const std::string& strategy) {
  return record["rows"][row_index(record, strategy)];
}

inline std::vector<nlohmann::json> findings_of(const nlohmann::json& record, const std::string& id) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& finding : record["findings"])
    if (finding["id"] == id) found.push_back(finding);
  return found;
}

// The one finding of that id. Fails the test where there is none, or another one.
inline nlohmann::json the_finding(const nlohmann::json& record, const std::string& id) {
  const auto found = findings_of(record, id);
  INFO(record["findings"].dump(1));
  REQUIRE(found.size() == 1);
  return found.front();
}

inline bool is_silent(const nlohmann::json& record, const std::string& id) {
  return findings_of(record, id).empty();
}

// Pages added to the cache, whoever brought them, by the ledger's parts.
inline std::size_t sum_of_sources(const nlohmann::json& page_cache) {
  std::size_t sum = 0;
  for (const nlohmann::json& pages : page_cache["by"]) sum += pages.get<std::size_t>();
  return sum;
}

}
