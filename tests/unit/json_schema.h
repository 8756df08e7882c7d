#pragma once
// A JSON document against a JSON Schema. The validator is slow to compile: it stands alone in
// json_schema.cpp.

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace iotrace::test {

// What the schema (draft 7) holds against the document, one line each; empty: nothing.
std::string schema_objection(const nlohmann::json& schema, const nlohmann::json& document);

}
