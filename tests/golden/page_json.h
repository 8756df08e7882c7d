#pragma once
// What an HTML page holds in <script type="application/json" id=…>.

#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace iotrace::test {

inline nlohmann::ordered_json json_of(const std::string& page, const std::string& id) {
  const std::string start = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = page.find(start) + start.size(), end = page.find("</script>", begin);
  REQUIRE(begin != std::string::npos + start.size());
  return nlohmann::ordered_json::parse(page.substr(begin, end - begin));
}

}
