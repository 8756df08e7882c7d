#include "tests/unit/json_schema.h"

// g++ 12 with -fsanitize=address suspects std::regex, which valijson uses (GCC bug 105562).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace iotrace::test {

std::string schema_objection(const nlohmann::json& schema, const nlohmann::json& document) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  valijson::Schema rules;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(schema), rules);
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(rules, Adapter(document), &results)) return "";

  std::string text;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text;
}

}
