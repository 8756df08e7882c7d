#include "analysis/reports/html_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/text.h"

namespace iotrace::page {

namespace {

// Steps of a plotted distribution per octave, as powers of two: no finer than the coarsest histogram.
constexpr unsigned kPlotSubBits = kFileSubBits;

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void add_lines(Json& table, const std::vector<std::vector<std::string>>& lines) {
  for (const auto& line : lines) add_line(table, line);
}

// A share that differs from nothing by its digits: "0.0412 %".
std::string exact_percent(double ratio) {
  return three_digits(100 * ratio) + " %";
}

}

Json table(std::string heading, std::size_t labels, std::vector<std::string> columns) {
  for (std::string& column : columns) column = on_one_line(std::move(column));
  return {{"heading", std::move(heading)},
          {"labels", labels},
          {"columns", std::move(columns)},
          {"lines", Json::array()}};
}

void add_line(Json& table, std::vector<std::string> cells, const std::string& id) {
  cells.resize(table["columns"].size());
  table["lines"].push_back({{"id", id.empty() ? Json(nullptr) : Json(id)}, {"cells", std::move(cells)}});
}

Json table_of(const wording::ResponseTable& content) {
  constexpr std::size_t kLabels = 2;
  Json out = table(content.heading, kLabels, content.columns);
  add_lines(out, content.lines);
  return out;
}

Json table_of(const wording::AttachTable& content) {
  Json out = table(content.heading, content.labels, content.columns);
  add_lines(out, content.lines);
  return out;
}

Json block(std::string title, std::string note, Json plot, std::vector<Json> tables,
           std::vector<std::string> sentences) {
  std::erase_if(tables,
                [](const Json& table) { return table["lines"].empty() && !table.contains("sentences"); });
  return {{"title", std::move(title)},
          {"note", std::move(note)},
          {"plot", std::move(plot)},
          {"tables", std::move(tables)},
          {"sentences", std::move(sentences)}};
}

std::string row_id(std::uint32_t index) {
  return fmt::format("row-{}", index);
}

std::string file_id(std::uint32_t index) {
  return fmt::format("file-{}", index);
}

std::string row_label(const Row& row) {
  return wording::row_name(row) + ' ' + threads_name(row.threads) + (row.drifted ? " (drifted)" : "");
}

std::size_t style_of(const RunRecord& record, const Row& row) {
  std::vector<std::string_view> seen;
  for (const Row& other : record.rows) {
    if (other.strategy == row.strategy) break;
    if (std::ranges::find(seen, other.strategy) == seen.end()) seen.push_back(other.strategy);
  }
  return seen.size();
}

void Distributions::add(const std::string& view, const std::string& name, std::size_t style, bool dashed,
                        const Histogram& nanoseconds) {
  if (nanoseconds.count() == 0) return;
  std::map<unsigned, std::uint64_t> coarse;
  for (const auto& [bin, count] : nanoseconds.bins())
    coarse[histogram_bin(histogram_bin_low(bin, nanoseconds.sub_bits()), kPlotSubBits)] += count;
  Json steps = Json::array(), labels = Json::array();
  for (unsigned bin = coarse.begin()->first; bin <= coarse.rbegin()->first; ++bin) {
    const auto found = coarse.find(bin);
    const std::uint64_t count = found == coarse.end() ? 0 : found->second;
    const auto from = static_cast<double>(histogram_bin_low(bin, kPlotSubBits));
    const double to = static_cast<double>(histogram_bin_high(bin, kPlotSubBits)) + 1;
    const double share = static_cast<double>(count) / static_cast<double>(nanoseconds.count());
    steps.push_back({from, to, 100 * share});
    labels.push_back(fmt::format("{} to {}: {} ({} of {})", human_ns(from), human_ns(to),
                                 exact_percent(share), count, nanoseconds.count()));
  }
  auto place = std::ranges::find(views_, Json(view), [](const Json& other) { return other["name"]; });
  if (place == views_.end()) {
    views_.push_back({{"name", view}, {"series", Json::array()}});
    place = std::prev(views_.end());
  }
  (*place)["series"].push_back({{"name", name},
                                {"style", style},
                                {"dashed", dashed},
                                {"steps", std::move(steps)},
                                {"labels", std::move(labels)}});
}

Json Distributions::plot() && {
  return {{"kind", "distribution"}, {"views", std::move(views_)}};
}

Bars::Bars(std::string unit, std::vector<std::pair<std::string, std::size_t>> parts, bool log)
    : plot_{{"kind", "bars"},
            {"unit", std::move(unit)},
            {"log", log},
            {"names", Json::array()},
            {"parts", Json::array()}} {
  for (auto& [name, style] : parts)
    plot_["parts"].push_back(
        {{"name", std::move(name)}, {"style", style}, {"values", Json::array()}, {"labels", Json::array()}});
}

void Bars::add(Json value, std::string label) {
  Json& part = plot_["parts"][next_];
  part["values"].push_back(std::move(value));
  part["labels"].push_back(std::move(label));
  next_ = (next_ + 1) % plot_["parts"].size();
}

Intervals::Intervals(std::string x_title, std::vector<std::string> x)
    : plot_{{"kind", "intervals"},           {"unit", "ops/ms"}, {"log", false},
            {"x_title", std::move(x_title)}, {"x", x},           {"series", Json::array()}},
      places_(x.size()) {}

void Intervals::add(const std::string& series, std::size_t style, bool dashed, std::size_t x,
                    const Estimate& estimate, std::string label, std::string target) {
  Json& all = plot_["series"];
  auto place = std::ranges::find(all, Json(series), [](const Json& other) { return other["name"]; });
  if (place == all.end()) {
    all.push_back(
        {{"name", series}, {"style", style}, {"dashed", dashed}, {"points", std::vector<Json>(places_)}});
    place = std::prev(all.end());
  }
  auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  (*place)["points"][x] = {{"value", *estimate.median},
                           {"low", number(estimate.low)},
                           {"high", number(estimate.high)},
                           {"label", std::move(label)},
                           {"target", std::move(target)}};
  if (*estimate.median > 0) least_ = least_ > 0 ? std::min(least_, *estimate.median) : *estimate.median;
  most_ = std::max(most_, *estimate.median);
}

Json Intervals::plot() && {
  // From this ratio of largest to smallest on, a linear axis hides the small ones.
  constexpr double kLogFrom = 30;
  if (plot_["series"].empty()) return nullptr;
  plot_["log"] = least_ > 0 && most_ / least_ >= kLogFrom;
  return std::move(plot_);
}

}
