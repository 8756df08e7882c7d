#include "analysis/reference.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/comparison.h"
#include "analysis/reference_texts.h"
#include "analysis/row_facts.h"

namespace iotrace {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 2> kBaselines{"pread", "mmap"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// Throughput as it is; times turned over.
double speed_of(const Json& row) {
  if (row.contains("ops_per_ms")) return row["ops_per_ms"];
  return 1 / row.value(row.contains("us_per_op") ? "us_per_op" : "seconds", 1.0);
}

PublishedRow row_from(const Json& json) {
  PublishedRow row{.case_name = json["case"],
                   .pattern = json["pattern"],
                   .strategy = json["strategy"],
                   .published_as = json["published_as"],
                   .threads = json["threads"],
                   .read_size_bytes = json["read_size_bytes"],
                   .reads_per_op = json["reads_per_op"],
                   .write_pct = json.value("write_pct", 0.0),
                   .speed = speed_of(json)};
  if (json.contains("cold_pct")) row.cold_pct = json["cold_pct"];
  return row;
}

// The one platform whose name has the word in it.
Result<std::string> platform_named(const Json& json, std::string_view word) {
  std::vector<std::string> all, found;
  for (const auto& [name, facts] : json["platforms"].items()) {
    all.push_back(name);
    if (lower(name).find(lower(word)) != std::string::npos) found.push_back(name);
  }
  if (word.empty()) return json["rows"][0]["platform"].get<std::string>();
  if (found.size() == 1) return found[0];
  return usage_error(fmt::format("--reference: platform '{}' of {} is {}; it has: {}", word,
                                 json["name"].get<std::string>(), found.empty() ? "unknown" : "not one alone",
                                 fmt::join(all, ", ")));
}

bool same_cell(const PublishedRow& a, const PublishedRow& b) {
  return a.case_name == b.case_name && a.pattern == b.pattern && a.threads == b.threads &&
         a.read_size_bytes == b.read_size_bytes && a.reads_per_op == b.reads_per_op &&
         a.cold_pct == b.cold_pct && a.write_pct == b.write_pct;
}

bool same_cell(const PublishedRow& published, const Row& row) {
  return published.case_name == row.case_name && published.pattern == row.pattern &&
         published.threads == row.threads && published.read_size_bytes == row.read_size_bytes &&
         published.reads_per_op == row.reads_per_op && published.write_pct == row.cell.write_pct &&
         (!published.cold_pct || published.cold_pct == row.cell.cold_pct);
}

std::optional<BesidePublished> beside(const RunRecord& record, std::uint32_t index, const Publication& all) {
  const Row& row = record.rows[index];
  auto published = std::ranges::find_if(
      all.rows, [&](const PublishedRow& p) { return p.strategy == row.strategy && same_cell(p, row); });
  if (published == all.rows.end()) return std::nullopt;
  for (std::string_view baseline : kBaselines) {
    if (row.strategy == baseline) return std::nullopt;
    auto base = std::ranges::find_if(
        all.rows, [&](const PublishedRow& p) { return p.strategy == baseline && same_cell(p, *published); });
    auto own_base = row_beside(record, row, baseline);
    if (base == all.rows.end() || !own_base) continue;
    return BesidePublished{index, std::string(baseline),
                           ratio_interval(throughputs(record.rows[*own_base]), throughputs(row)),
                           published->speed / base->speed, published->published_as};
  }
  return std::nullopt;
}

}

std::vector<std::string> publication_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : reference_texts()) names.emplace_back(name);
  return names;
}

Result<Publication> publication(std::string_view word) {
  const std::string_view name = word.substr(0, word.find(':'));
  const auto texts = reference_texts();
  const auto found = std::ranges::find(texts, name, [](const auto& entry) { return entry.first; });
  if (found == texts.end())
    return usage_error(fmt::format("--reference '{}': known are {}; a platform follows after a colon", word,
                                   fmt::join(publication_names(), ", ")));
  const Json json = Json::parse(found->second);
  auto platform = platform_named(json, name.size() < word.size() ? word.substr(name.size() + 1) : "");
  if (!platform) return platform.error();

  Publication made{.name = json["name"],
                   .source = json["source"],
                   .date = json["date"],
                   .harness = json["harness"],
                   .note = json["note"],
                   .platform = *platform,
                   .platform_facts = json["platforms"][*platform]};
  for (const Json& row : json["rows"])
    if (row["platform"] == *platform) made.rows.push_back(row_from(row));
  return made;
}

std::vector<BesidePublished> beside(const RunRecord& record, const Publication& publication) {
  std::vector<BesidePublished> all;
  for (std::uint32_t index = 0; index < record.rows.size(); ++index)
    if (may_be_judged(record.rows[index]))
      if (auto pair = beside(record, index, publication)) all.push_back(std::move(*pair));
  return all;
}

}
