// record.schema.json against what the writer writes: neither may have a key that the other lacks.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/record_json.h"
#include "tests/unit/json_schema.h"
#include "tests/unit/sample_record.h"

using namespace iotrace;
using Json = nlohmann::json;

namespace {

const Json& schema_json() {
  static const Json json = Json::parse(test::text_of("analysis/record.schema.json"));
  return json;
}

std::string objection(const Json& document) {
  return test::schema_objection(schema_json(), document);
}

// The schema that says what a value looks like: behind a reference, or the first branch that isn't null.
const Json& resolve(const Json& schema) {
  if (schema.contains("anyOf")) return resolve(schema["anyOf"][0]);
  if (!schema.contains("$ref")) return schema;
  return resolve(schema_json()[Json::json_pointer(schema["$ref"].get<std::string>().substr(1))]);
}

// JSON pointers of keys in the document that the schema does not name.
void find_undescribed(const Json& value, const Json& schema, const std::string& at,
                      std::vector<std::string>& found) {
  const Json& rules = resolve(schema);
  if (value.is_array())
    for (const Json& item : value) find_undescribed(item, rules.at("items"), at + "/*", found);
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    if (rules.contains("properties") && rules["properties"].contains(key))
      find_undescribed(member, rules["properties"][key], at + "/" + key, found);
    else if (rules.contains("additionalProperties"))
      find_undescribed(member, rules["additionalProperties"], at + "/" + key, found);
    else
      found.push_back(at + "/" + key);
  }
}

std::vector<std::string> undescribed(const Json& document) {
  std::vector<std::string> found;
  find_undescribed(document, schema_json(), "", found);
  return found;
}

Json full_document() {
  return Json::parse(to_json_text(test::full_record()));
}

// The schema itself and its definitions: everything that lists properties.
std::vector<Json> object_schemas() {
  std::vector<Json> schemas{schema_json()};
  for (const Json& definition : schema_json()["definitions"]) schemas.push_back(definition);
  return schemas;
}

}

TEST_CASE("records obey the schema, and it describes each of their keys") {
  Json bare = Json::parse(to_json_text(test::bare_record()));
  Json cold = Json::parse(test::golden_record_text("cold.json"));
  Json probes_off = Json::parse(test::golden_record_text("probes_off.json"));
  for (const Json& document : {full_document(), bare, cold, probes_off}) {
    CHECK(objection(document) == "");
    CHECK(undescribed(document) == std::vector<std::string>{});
  }
}

TEST_CASE("a key that the schema does not describe is found") {
  Json document = full_document();
  document["rows"][0]["faults"]["read"]["weather"] = "rain";
  CHECK(undescribed(document) == std::vector<std::string>{"/rows/*/faults/read/weather"});
}

TEST_CASE("every property of the schema is required, described and of a stated type") {
  for (const Json& schema : object_schemas()) {
    for (const auto& [key, property] : schema["properties"].items()) {
      INFO(key);
      CHECK(std::count(schema["required"].begin(), schema["required"].end(), key) == 1);
      CHECK(property.value("description", "").size() > 3);
      CHECK((property.contains("type") || property.contains("$ref") || property.contains("anyOf") ||
             property.contains("enum")));
    }
    CHECK(schema["required"].size() == schema["properties"].size());
  }
}

TEST_CASE("a full record has a value for every property") {
  const Json full = full_document();
  for (const auto& [key, value] : full["rows"][0].items()) {
    INFO(key);
    CHECK_FALSE(value.is_null());
  }
}

TEST_CASE("the schema rejects a record that lacks a key") {
  const Json full = full_document();
  for (const auto& [key, value] : full["rows"][0].items()) {
    INFO(key);
    Json document = full;
    document["rows"][0].erase(key);
    CHECK(objection(document) != "");
  }
}

TEST_CASE("the schema rejects a value of the wrong type or range") {
  auto damaged = [](const char* pointer, const Json& value) {
    Json document = full_document();
    document[Json::json_pointer(pointer)] = value;
    return objection(document);
  };
  CHECK(damaged("/seed", 7) == "");
  CHECK(damaged("/seed", "7") != "");
  CHECK(damaged("/rows/0/threads", 1.5) != "");
  CHECK(damaged("/rows/0/untraced/lat_ns/bins/1000", "many") != "");
  CHECK(damaged("/rows/0/untraced/lat_ns/percentile/50.000000", nullptr) != "");
  CHECK(damaged("/rows/0/faults/read/count", -1) != "");
  CHECK(damaged("/rows/0/madvise/0/errno", 22) != "");
  CHECK(damaged("/rows/0/untraced/reps/0/residency_before_ratio", 1.01) != "");
  CHECK(damaged("/findings/0/severity", "terrible") != "");
  CHECK(damaged("/started", "yesterday") != "");
  CHECK(damaged("/host", nullptr) != "");
  CHECK(damaged("/schema_version", 2) != "");
}
