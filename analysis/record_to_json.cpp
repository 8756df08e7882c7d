// RunRecord to JSON text.

#include "analysis/record_json.h"

#include <map>
#include <optional>
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

}

std::string to_json_text(const RunRecord& record) {
  Json json = Writer::to_json(record);
  for (const auto& [at, text] : record.unknown) {
    const Json::json_pointer place(at), parent = place.parent_pointer();
    if (json.contains(parent) && json[parent].is_object()) json[place] = Json::parse(text);
  }
  // What JSON cannot say: bytes of a path that are not UTF-8 become U+FFFD, NaN and infinity become null.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}
