// RunRecord to JSON text.

#include "analysis/record_json.h"

#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/record_fields.h"

namespace iotrace {

namespace {

using Json = nlohmann::ordered_json;

// fio writes these, under these keys, among others; %.6f of a percentage.
constexpr double kPercentiles[] = {50, 90, 99, 99.9};

class Writer {
public:
  template<typename T> void operator()(const char* key, const T& member) { object_[key] = to_json(member); }
  template<typename T> void may_lack(const char* key, const T& member) { object_[key] = to_json(member); }

  template<typename T> static Json to_json(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
      return value;
    else {
      Writer writer;
      fields(writer, value);
      return std::move(writer.object_);
    }
  }

  template<typename T> static Json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : Json(nullptr);
  }

  template<typename T> static Json to_json(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(to_json(value));
    return array;
  }

  template<typename Key, typename T> static Json to_json(const std::map<Key, T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[fmt::format("{}", key)] = to_json(value);
    return object;
  }

  static Json to_json(const Histogram& histogram) {
    Writer writer;
    writer("min", histogram.min());
    writer("max", histogram.max());
    writer("mean", histogram.mean());
    writer("stddev", histogram.stddev());
    writer("N", histogram.count());
    writer.object_["percentile"] = percentiles(histogram);
    Json bins = Json::object();
    for (const auto& [bin, count] : histogram.bins())
      bins[fmt::format("{}", histogram_bin_low(bin, histogram.sub_bits()))] = count;
    writer.object_["bins"] = std::move(bins);
    writer("bins_per_octave", std::uint64_t{1} << histogram.sub_bits());
    return std::move(writer.object_);
  }

private:
  static Json percentiles(const Histogram& histogram) {
    if (histogram.count() == 0) return nullptr;
    Json object = Json::object();
    for (double percent : kPercentiles)
      object[fmt::format("{:.6f}", percent)] = to_json(histogram.percentile(percent / 100));
    return object;
  }

  Json object_ = Json::object();
};

// What JSON cannot say: bytes of a path that are not UTF-8 become U+FFFD, NaN and infinity become null.
//   indent   of the line that the value begins on
std::string text_of(const Json& value, std::string_view indent) {
  const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace);
  std::string indented;
  indented.reserve(text.size());
  for (char c : text) {
    indented += c;
    if (c == '\n') indented += indent;  // between values: within a string it is written as \n
  }
  return indented;
}

// The record's own members, of which lists may have thousands of elements: each is made into text by itself,
// so that no tree of all of them, ten times as large, is in memory.
class RecordText {
public:
  template<typename T> void operator()(const char* key, const T& member) {
    text_ += text_.empty() ? "{\n  " : ",\n  ";
    text_ += text_of(key, "") + ": ";
    add(member);
  }
  template<typename T> void may_lack(const char* key, const T& member) { (*this)(key, member); }

  std::string take() && { return std::move(text_) + "\n}\n"; }

private:
  template<typename T> void add(const T& member) { text_ += text_of(Writer::to_json(member), "  "); }

  template<typename T> void add(const std::vector<T>& members) {
    const char* before = "[\n    ";
    for (const T& member : members) {
      const std::string element = text_of(Writer::to_json(member), "    ");
      // Room for all, were they twice as long as the first: room that is not written to takes no memory, and
      // a string that grows is there twice meanwhile.
      if (&member == &members.front()) text_.reserve(text_.size() + 2 * members.size() * element.size());
      text_ += before + element;
      before = ",\n    ";
    }
    text_ += members.empty() ? "[]" : "\n  ]";
  }

  std::string text_;
};

}

std::string to_json_text(const RunRecord& record) {
  if (record.unknown.empty()) {
    RecordText text;
    fields(text, record);
    return std::move(text).take();
  }
  // Of a later version, which knows more: a whole tree, into which what it knows is put back.
  Json json = Writer::to_json(record);
  for (const auto& [at, text] : record.unknown) {
    const Json::json_pointer place(at), parent = place.parent_pointer();
    if (json.contains(parent) && json[parent].is_object()) json[place] = Json::parse(text);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}
