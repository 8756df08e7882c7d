// The record as JSON: what is written, what is read back, and what is refused. The schema's side is in
// record_schema_test.cpp.

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/record_json.h"
#include "tests/unit/sample_record.h"

using namespace iotrace;
using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

namespace {

Json written(const RunRecord& record) {
  return Json::parse(to_json_text(record));
}

// The sample with one change, as text.
std::string changed(const char* pointer, const Json& value) {
  Json json = written(test::full_record());
  json[Pointer(pointer)] = value;
  return json.dump();
}

std::string without(const char* parent, const char* key) {
  Json json = written(test::full_record());
  json[Pointer(parent)].erase(key);
  return json.dump();
}

std::string refusal(const std::string& text) {
  Result<RunRecord> record = from_json_text(text);
  return record ? "accepted" : record.error().message;
}

}

TEST_CASE("what is written reads back and writes the same text") {
  for (const RunRecord& record : {test::full_record(), test::bare_record()}) {
    std::string text = to_json_text(record);
    Result<RunRecord> again = from_json_text(text);
    INFO((again ? "" : again.error().message));
    REQUIRE(again);
    CHECK(to_json_text(*again) == text);
  }
}

TEST_CASE("the golden records are what the writer writes") {
  for (const char* name : {"cold.json", "probes_off.json"}) {
    INFO(name);
    std::string text = test::golden_record_text(name);
    Result<RunRecord> record = from_json_text(text);
    INFO((record ? "" : record.error().message));
    REQUIRE(record);
    CHECK(to_json_text(*record) == text);
  }
}

TEST_CASE("members arrive where they belong") {
  RunRecord record = *from_json_text(to_json_text(test::full_record()));
  CHECK(record.seed == std::numeric_limits<std::int64_t>::max());
  CHECK(record.file.folio_orders == std::map<std::uint32_t, Count>{{0, 7}, {9, 23}});
  const Row& row = record.rows.at(0);
  CHECK(row.case_name == "cold");
  CHECK(row.syscalls->at(1).error == "EINVAL");
  CHECK_FALSE(row.syscalls->at(1).lat_ns);
  CHECK(row.madvise->at(0).error == "EINVAL");
  CHECK_FALSE(row.madvise->at(1).error);
  CHECK(row.faults->read->lat_ns == test::full_record().rows[0].faults->read->lat_ns);
  CHECK(row.untraced->lat_ns == test::full_record().rows[0].untraced->lat_ns);
  CHECK(row.probes.at(0).unmatched == 5);
}

TEST_CASE("a histogram has the shape of fio's lat_ns") {
  RunRecord record = test::bare_record();
  Histogram two{kOpSubBits};
  two.add(100);
  two.add(1000);
  record.rows[0].service_ns = two;
  CHECK(written(record)["rows"][0]["service_ns"].dump() ==
        R"({"min":100,"max":1000,"mean":550.0,"stddev":)" + Json(*two.stddev()).dump() +
            R"(,"N":2,"percentile":{"50.000000":100,"90.000000":1000,"99.000000":1000,"99.900000":1000},)"
            R"("bins":{"100":1,"1000":1},"bins_per_octave":128})");
}

TEST_CASE("an empty histogram has N 0, no bins and no numbers") {
  RunRecord record = test::bare_record();
  record.rows[0].service_ns = Histogram{kKernelSubBits};
  CHECK(written(record)["rows"][0]["service_ns"].dump() ==
        R"({"min":null,"max":null,"mean":null,"stddev":null,"N":0,"percentile":null,"bins":{},)"
        R"("bins_per_octave":8})");
}

TEST_CASE("a histogram keeps its sum, its extremes and its largest bin") {
  RunRecord record = test::bare_record();
  Histogram wide{kKernelSubBits};
  wide.add(0, 3);
  wide.add(1'000'000'007, 999'999);
  wide.add(7'777'777'777'777);
  record.rows[0].service_ns = wide;
  RunRecord again = *from_json_text(to_json_text(record));
  CHECK(*again.rows[0].service_ns == wide);

  Histogram one_of_49{kKernelSubBits};  // 1.0 / 49 * 49 is less than 1
  one_of_49.add(0, 48);
  one_of_49.add(1);
  record.rows[0].service_ns = one_of_49;
  again = *from_json_text(to_json_text(record));
  CHECK(*again.rows[0].service_ns == one_of_49);

  Histogram largest{kKernelSubBits};
  largest.add(std::numeric_limits<std::uint64_t>::max() - 4096);
  record.rows[0].service_ns = largest;
  again = *from_json_text(to_json_text(record));
  CHECK(again.rows[0].service_ns->bins() == largest.bins());
}

TEST_CASE("groups without numbers are there, null or empty, with their reason") {
  RunRecord record = test::bare_record();
  record.rows[0].unavailable["reclaim"] = "no tracepoint";
  Json json = written(record);
  const Json& row = json["rows"][0];
  CHECK(json["ceiling"].is_null());
  CHECK(json["intervals"] == Json::array());
  for (const char* group : {"hints", "block_io", "reclaim", "time", "service_ns", "response_ns"})
    CHECK(row.at(group).is_null());
  CHECK(row["unavailable"]["reclaim"] == "no tracepoint");
}

TEST_CASE("a number that is not finite is written as null") {
  RunRecord record = test::full_record();
  double infinity = std::numeric_limits<double>::infinity();
  record.options.duration_s = std::nan("");
  record.rows[0].noise_floor_ratio = infinity;
  record.rows[0].observer_cost_ratio->low = -infinity;
  record.findings[0].numbers["ratio"] = infinity;
  std::string text = to_json_text(record);
  Json json = Json::parse(text);
  CHECK(json["options"]["duration_s"].is_null());
  CHECK(json["rows"][0]["noise_floor_ratio"].is_null());
  CHECK(json["rows"][0]["observer_cost_ratio"]["low"].is_null());
  CHECK(json["findings"][0]["numbers"]["ratio"].is_null());

  RunRecord again = *from_json_text(text);
  CHECK(std::isnan(again.options.duration_s));
  CHECK_FALSE(again.rows[0].noise_floor_ratio);
  CHECK(to_json_text(again) == text);
}

TEST_CASE("a path that is not UTF-8 is written with replacement characters") {
  RunRecord record = test::bare_record();
  record.file.path = "/data/caf\xe9";
  std::string text = to_json_text(record);
  CHECK(Json::parse(text)["file"]["path"] == "/data/caf\xef\xbf\xbd");
  CHECK(to_json_text(*from_json_text(text)) == text);
}

TEST_CASE("integers stay integers, up to the largest") {
  RunRecord record = test::full_record();
  record.seed = std::numeric_limits<std::uint64_t>::max();
  std::string text = to_json_text(record);
  CHECK(Json::parse(text)["rows"][0]["device_bytes"].is_number_integer());
  CHECK(from_json_text(text)->seed == record.seed);
}

TEST_CASE("unknown keys are kept, and written back where they stood") {
  for (const char* at : {"/weather", "/rows/0/weather", "/rows/0/block_io/weather", "/host/a~1b"})
    for (const Json& value : {Json("rain"), Json{{"mm", 3}}, Json(nullptr)}) {
      Result<RunRecord> record = from_json_text(changed(at, value));
      REQUIRE(record);
      CHECK(record->unknown == std::map<std::string, std::string>{{at, value.dump()}});
      Json again = Json::parse(to_json_text(*record));
      CHECK(again.at(Pointer(at)) == value);
    }
}

TEST_CASE("a known record has no unknown keys, and what stood in a row that is gone goes with it") {
  CHECK(from_json_text(to_json_text(test::full_record()))->unknown.empty());
  RunRecord record = *from_json_text(changed("/rows/0/weather", "rain"));
  record.rows.clear();
  CHECK(Json::parse(to_json_text(record))["rows"] == Json::array());
}

TEST_CASE("an optional key that is missing is no value, and one beside the contract its default") {
  Json json = written(test::full_record());
  json["rows"][0].erase("faults");
  json["rows"][0].erase("expects");
  json["host"].erase("mglru");
  json["rows"][0]["probes"][0].erase("unmatched");
  Result<RunRecord> record = from_json_text(json.dump());
  REQUIRE(record);
  CHECK_FALSE(record->rows[0].faults);
  CHECK_FALSE(record->rows[0].expects.hints);
  CHECK_FALSE(record->host.mglru);
  CHECK(record->rows[0].probes[0].unmatched == 0);
}

TEST_CASE("text that is not JSON is refused with line and column") {
  CHECK(refusal("") == "not JSON: the text ends too early at line 1, column 1");
  CHECK(refusal("{\n  \"seed\": oops\n}") == "not JSON: unexpected character at line 2, column 11");
  CHECK(refusal("{\n  \"seed\": 1") == "not JSON: the text ends too early at line 2, column 12");
  CHECK(refusal("{\"path\": \"\xff\"}") == "not JSON: unexpected character at line 1, column 11");
  CHECK(refusal("{\"seed\": 1e999}") == "not an iotrace record: it holds a number too large for a double");
}

TEST_CASE("JSON that is no record of ours is refused") {
  std::string no_record =
      "not an iotrace record: \"schema_version\" is missing; `iotrace run -o FILE` writes one";
  CHECK(refusal("[]") == no_record);
  CHECK(refusal("{\"fio version\": \"fio-3.33\"}") == no_record);
  CHECK(refusal(changed("/schema_version", 0)) == "not an iotrace record: there is no schema_version 0");
  CHECK(refusal(changed("/schema_version", "1")) ==
        "iotrace record, field /schema_version: expected a whole number, found string");
}

TEST_CASE("a record of a newer schema is refused") {
  CHECK(refusal(R"({"schema_version": 2})") ==
        "the record has schema_version 2, this iotrace reads up to 1; use a newer iotrace");
  CHECK(refusal(R"({"schema_version": 18446744073709551615})").starts_with("the record has schema_version"));
}

TEST_CASE("a field of the wrong type is named by its JSON pointer") {
  std::string record = "iotrace record, field ";
  CHECK(refusal(changed("/rows/0/threads", "4")) ==
        record + "/rows/0/threads: expected a whole number from 0 to 4294967295, found string");
  CHECK(refusal(changed("/rows/0/threads", 4294967296)) ==
        record + "/rows/0/threads: expected a whole number from 0 to 4294967295, found 4294967296");
  CHECK(refusal(changed("/rows/0/requested_bytes", -1)) ==
        record + "/rows/0/requested_bytes: expected a whole number from 0 to 18446744073709551615, found -1");
  CHECK(refusal(changed("/rows/0/requested_bytes", 1.5)) ==
        record +
            "/rows/0/requested_bytes: expected a whole number from 0 to 18446744073709551615, found 1.5");
  CHECK(refusal(changed("/host", 3)) == record + "/host: expected an object, found 3");
  CHECK(refusal(changed("/rows", Json::object())) == record + "/rows: expected an array, found object");
  CHECK(refusal(changed("/partial", "no")) == record + "/partial: expected true or false, found string");
  CHECK(refusal(changed("/iotrace", nullptr)) == record + "/iotrace: expected a string, found null");
  CHECK(refusal(changed("/options/duration_s", "1s")) ==
        record + "/options/duration_s: expected a number, found string");
  CHECK(refusal(changed("/rows/0/unavailable/a~1b", 1)) ==
        record + "/rows/0/unavailable/a~1b: expected a string, found 1");
  CHECK(refusal(changed("/file/folio_orders/nine", 1)) ==
        record + "/file/folio_orders/nine: the key is not a whole number");
  CHECK(refusal(without("/rows/0", "strategy")) == record + "/rows/0/strategy: missing");
}

TEST_CASE("a histogram that contradicts itself is refused") {
  std::string field = "iotrace record, field /rows/0/untraced/lat_ns";
  CHECK(refusal(changed("/rows/0/untraced/lat_ns/N", 5)) == field + "/N: is 5, but the bins hold 4");
  CHECK(refusal(changed("/rows/0/untraced/lat_ns/bins/1001", 1)) ==
        field + "/bins/1001: no bin starts at this value");
  CHECK(refusal(changed("/rows/0/untraced/lat_ns/min", nullptr)) ==
        field + ": min, max and mean must be numbers where N is 4");
  CHECK(refusal(changed("/rows/0/untraced/lat_ns/mean", 1e300)) ==
        field + "/mean: N times the mean is not a 64-bit number");
  for (std::uint64_t bins : {0ull, 100ull, 2048ull, 1ull << 63})
    CHECK(refusal(changed("/rows/0/untraced/lat_ns/bins_per_octave", bins)) ==
          field + "/bins_per_octave: not a power of two up to 1024");
}

TEST_CASE("no prefix of a record is a record") {
  std::string text = test::golden_record_text("probes_off.json");
  for (std::size_t length = 0; length + 2 < text.size(); ++length)
    CHECK(refusal(text.substr(0, length)).starts_with("not JSON: "));
}

// Each leaf of a record is damaged in turn, so that a record costs the square of its size: what `attach` adds
// is a record of its own, with the groups left out that rows have too.
static RunRecord without_attach() {
  RunRecord record = test::full_record();
  record.target = std::nullopt;
  record.totals = std::nullopt;
  record.files.clear();
  record.threads.clear();
  record.intervals.clear();
  return record;
}

static RunRecord attach_alone() {
  RunRecord record = test::full_record();
  record.rows.clear();
  record.totals = Totals{.time = record.totals->time, .unavailable = {{"faults", "example"}}};
  AttachedFile& file = record.files.front();
  file.faults = std::nullopt;
  file.page_cache = std::nullopt;
  file.block_io = std::nullopt;
  return record;
}

TEST_CASE("whatever stands in a field, the record is read whole or refused by name") {
  const Json flat = written(GENERATE(true, false) ? without_attach() : attach_alone()).flatten();
  const Json record = flat.unflatten();
  for (const auto& [pointer, leaf] : flat.items())
    for (const Json& odd :
         {Json(nullptr), Json(true), Json(-1), Json(1.5), Json("x"), Json::array(), Json::object()}) {
      Json damaged = record;
      damaged[Pointer(pointer)] = odd;
      Result<RunRecord> read = from_json_text(damaged.dump());
      if (read) continue;
      INFO(pointer << " = " << odd << ": " << read.error().message);
      CHECK(read.error().message.find("\n") == std::string::npos);
      CHECK((read.error().message.starts_with("iotrace record, field /") ||
             read.error().message.starts_with("not an iotrace record")));
    }
}
