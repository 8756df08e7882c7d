#pragma once
// analysis/reports/html/* and Chart.js, as the build put them into the program.

#include <span>
#include <string_view>
#include <utility>

namespace iotrace {

// File name ("page.html", "chart.min.js") and text.
std::span<const std::pair<std::string_view, std::string_view>> html_texts();

}
