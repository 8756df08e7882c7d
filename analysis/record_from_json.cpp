// JSON text to RunRecord. The reader keeps the first problem it meets, named by its JSON pointer, and reads
// nothing after it.

#include "analysis/record_json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/record_fields.h"

namespace iotrace {

namespace {

using Json = nlohmann::json;
using Pointer = Json::json_pointer;

// Far above the 128 of the finest histogram there is, and few enough for a histogram to fit in memory.
constexpr std::uint64_t kMostBinsPerOctave = 1024;

template<typename T> constexpr bool kIsOptional = false;
template<typename T> constexpr bool kIsOptional<std::optional<T>> = true;

// The whole of `text` as a decimal number.
template<typename T> std::optional<T> number_from(const std::string& text) {
  T number{};
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

using Unknown = std::map<std::string, std::string>;  // RunRecord::unknown

// Reads the members of one JSON object.
class Reader {
public:
  Reader(const Json& object, Pointer here, std::optional<Error>& problem, Unknown& unknown)
      : object_(object), here_(std::move(here)), problem_(problem), unknown_(unknown) {
    if (!object_.is_object()) expected("an object", object_, here_);
  }

  template<typename T> void operator()(const char* key, T& member) {
    if (problem_) return;
    asked_for_.insert(key);
    if (auto found = object_.find(key); found != object_.end())
      read(*found, here_ / key, member);
    else if constexpr (!kIsOptional<T>)
      fail(here_ / key, "missing");
  }

  template<typename T> void may_lack(const char* key, T& member) {
    if (!problem_ && object_.contains(key)) (*this)(key, member);
  }

  // Once every member was read: what the object holds beside them.
  void keep_unknown() {
    if (problem_) return;
    for (const auto& [key, value] : object_.items())
      if (!asked_for_.contains(key)) unknown_[(here_ / key).to_string()] = value.dump();
  }

private:
  template<typename T> void read(const Json& json, const Pointer& at, T& value) {
    if constexpr (std::is_same_v<T, bool>)
      json.is_boolean() ? void(value = json.get<bool>()) : expected("true or false", json, at);
    else if constexpr (std::is_integral_v<T>)
      read_integer(json, at, value);
    else if constexpr (std::is_same_v<T, std::string>)
      json.is_string() ? void(value = json.get<std::string>()) : expected("a string", json, at);
    else if constexpr (std::is_same_v<T, double>)
      read_double(json, at, value);
    else {
      Reader reader(json, at, problem_, unknown_);
      fields(reader, value);
      reader.keep_unknown();
    }
  }

  template<typename T> void read_integer(const Json& json, const Pointer& at, T& value) {
    bool fits = json.is_number_unsigned()
                    ? std::in_range<T>(json.get<std::uint64_t>())
                    : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      using Limits = std::numeric_limits<T>;
      return expected(fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()), json, at);
    }
    value = json.get<T>();
  }

  // The writer's null for a number that is not finite comes back as NaN.
  void read_double(const Json& json, const Pointer& at, double& value) {
    if (json.is_null())
      value = std::numeric_limits<double>::quiet_NaN();
    else if (json.is_number())
      value = json.get<double>();
    else
      expected("a number", json, at);
  }

  template<typename T> void read(const Json& json, const Pointer& at, std::optional<T>& value) {
    if (json.is_null())
      value = std::nullopt;
    else
      read(json, at, value.emplace());
  }

  template<typename T> void read(const Json& json, const Pointer& at, std::vector<T>& values) {
    if (!json.is_array()) return expected("an array", json, at);
    values.resize(json.size());
    for (std::size_t i = 0; i < json.size() && !problem_; ++i) read(json[i], at / i, values[i]);
  }

  template<typename Key, typename T>
  void read(const Json& json, const Pointer& at, std::map<Key, T>& values) {
    if (!json.is_object()) return expected("an object", json, at);
    for (const auto& [text, item] : json.items()) {
      if (problem_) return;
      if constexpr (std::is_same_v<Key, std::string>)
        read(item, at / text, values[text]);
      else if (auto key = number_from<Key>(text))
        read(item, at / text, values[*key]);
      else
        fail(at / text, "the key is not a whole number");
    }
  }

  void read(const Json& json, const Pointer& at, Histogram& histogram) {
    std::uint64_t bins_per_octave = 0, n = 0;
    std::map<std::uint64_t, std::uint64_t> bins;
    std::optional<std::uint64_t> min, max;
    std::optional<double> mean;
    Reader field(json, at, problem_, unknown_);
    field("bins_per_octave", bins_per_octave);
    field("N", n);
    field("bins", bins);
    field("min", min);
    field("max", max);
    field("mean", mean);
    if (problem_) return;

    if (!std::has_single_bit(bins_per_octave) || bins_per_octave > kMostBinsPerOctave)
      return fail(at / "bins_per_octave", fmt::format("not a power of two up to {}", kMostBinsPerOctave));
    auto sub_bits = static_cast<unsigned>(std::countr_zero(bins_per_octave));
    histogram = Histogram(sub_bits);

    std::vector<std::uint64_t> counts(bins.empty() ? 0 : histogram_bin(bins.rbegin()->first, sub_bits) + 1);
    for (const auto& [low, count] : bins) {
      unsigned bin = histogram_bin(low, sub_bits);
      if (histogram_bin_low(bin, sub_bits) != low)
        return fail(at / "bins" / std::to_string(low), "no bin starts at this value");
      counts[bin] = count;
    }
    add_counts(histogram, at, counts, n, min, max, mean);
  }

  void add_counts(Histogram& histogram, const Pointer& at, const std::vector<std::uint64_t>& counts,
                  std::uint64_t n, std::optional<std::uint64_t> min, std::optional<std::uint64_t> max,
                  std::optional<double> mean) {
    std::uint64_t total = 0;
    for (std::uint64_t count : counts) total += count;
    if (total != n) return fail(at / "N", fmt::format("is {}, but the bins hold {}", n, total));
    if (n == 0) return;
    if (!min || !max || !mean)
      return fail(at, fmt::format("min, max and mean must be numbers where N is {}", n));
    double sum = std::round(*mean * static_cast<double>(n));
    if (!(sum >= 0 && sum < 0x1p64)) return fail(at / "mean", "N times the mean is not a 64-bit number");
    histogram.add_bins(counts, static_cast<std::uint64_t>(sum), *min, *max);
  }

  void expected(std::string_view what, const Json& json, const Pointer& at) {
    bool printable = json.is_number() || json.is_boolean();
    fail(at, fmt::format("expected {}, found {}", what, printable ? json.dump() : json.type_name()));
  }

  void fail(const Pointer& at, std::string_view what) {
    if (!problem_) problem_ = Error{fmt::format("iotrace record, field {}: {}", at.to_string(), what)};
  }

  const Json& object_;
  Pointer here_;
  std::optional<Error>& problem_;
  Unknown& unknown_;
  std::set<std::string, std::less<>> asked_for_;
};

// "line 3, column 14" of the byte at `position`, both counted from 1.
std::string line_and_column(std::string_view text, std::size_t position) {
  std::string_view before = text.substr(0, position);
  std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
                     1 + position - line_start);
}

Result<Json> parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    std::size_t position = error.byte == 0 ? 0 : std::min(error.byte - 1, text.size());
    bool at_end = position == text.size();
    return Error{fmt::format("not JSON: {}{}",
                             at_end ? "the text ends too early at " : "unexpected character at ",
                             line_and_column(text, position))};
  } catch (const Json::out_of_range&) {
    return Error{"not an iotrace record: it holds a number too large for a double"};
  }
}

// The schema version decides whether the rest can be understood at all, so it is looked at first.
Status check_version(const Json& json) {
  if (!json.is_object() || !json.contains("schema_version"))
    return Error{"not an iotrace record: \"schema_version\" is missing; `iotrace run -o FILE` writes one"};
  const Json& version = json["schema_version"];
  if (!version.is_number_integer())
    return Error{fmt::format("iotrace record, field /schema_version: expected a whole number, found {}",
                             version.type_name())};
  if (version.get<double>() > kSchemaVersion)
    return Error{
        fmt::format("the record has schema_version {}, this iotrace reads up to {}; use a newer iotrace",
                    version.dump(), kSchemaVersion)};
  if (version.get<double>() < 1)
    return Error{fmt::format("not an iotrace record: there is no schema_version {}", version.dump())};
  return {};
}

}

Result<RunRecord> from_json_text(std::string_view text) {
  Result<Json> json = parse(text);
  if (!json) return json.error();
  if (Status version = check_version(*json); !version) return version.error();

  RunRecord record;
  std::optional<Error> problem;
  Reader reader(*json, Pointer(), problem, record.unknown);
  fields(reader, record);
  reader.keep_unknown();
  if (problem) return std::move(*problem);
  return record;
}

}
