// One self-contained page with interactive plots: analysis/reports/html/page.html with its style, its
// scripts, Chart.js, what the report says as JSON (html_parts.h), and the record itself. It asks for nothing
// over a network, and its Content-Security-Policy lets it ask for nothing.

#include <algorithm>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "analysis/record_json.h"
#include "analysis/reports/html_parts.h"
#include "analysis/reports/html_texts.h"
#include "analysis/text.h"

namespace iotrace {

namespace {

std::string html_text(std::string_view text) {
  std::string out;
  for (char c : printable(text)) switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    default: out += c;
    }
  return out;
}

// JSON that can stand in a <script>: outside of strings it has none of these characters, and within them no
// "</script>" or "<!--" is left.
std::string script_json(const page::Json& json) {
  std::string out;
  for (char c : json.dump(-1, ' ', false, page::Json::error_handler_t::replace)) switch (c) {
    case '<': out += "\\u003c"; break;
    case '>': out += "\\u003e"; break;
    case '&': out += "\\u0026"; break;
    default: out += c;
    }
  return out;
}

std::string all_scripts() {
  std::string out;
  for (const auto& [name, text] : html_texts())
    if (name.ends_with(".js") && name != "chart.min.js") out += text;
  return out;
}

std::string_view text_named(std::string_view wanted) {
  for (const auto& [name, text] : html_texts())
    if (name == wanted) return text;
  return {};
}

// Puts in what the template names as {{name}}, once: what was put in is not looked at again.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = text.find("{{"), end = text.find("}}", begin);
    out += text.substr(0, begin);
    if (end == std::string_view::npos) break;
    if (auto value = values.find(text.substr(begin + 2, end - begin - 2)); value != values.end())
      out += value->second;
    text.remove_prefix(end + 2);
  }
  return out;
}

std::string render_html(const RunRecord& record, const ReportOptions& options) {
  return page::whole_page(page::page_data(record, options), page::Json::parse(to_json_text(record)));
}

}

std::string page::whole_page(const Json& data, const Json& source) {
  return filled(text_named("page.html"), {{"title", html_text(data["title"].get<std::string>() + ": " +
                                                              data["subtitle"].get<std::string>())},
                                          {"style", std::string(text_named("style.css"))},
                                          {"chart", std::string(text_named("chart.min.js"))},
                                          {"scripts", all_scripts()},
                                          {"data", script_json(data)},
                                          {"record", script_json(source)}});
}

extern const ReportFormat html_report;
const ReportFormat html_report{"html", "one self-contained page with interactive plots", render_html, false,
                               ".html"};

}
