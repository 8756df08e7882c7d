#pragma once
// A format of `compare`: a comparison rendered as text. Each lives in a file of its own and has one line in
// registry.cpp. Copy markdown.cpp to start a new one.

#include <span>
#include <string>
#include <string_view>

#include "analysis/compare/compared.h"

namespace iotrace {

struct CompareOptions {
  bool colour = false;
};

struct CompareFormat {
  std::string_view name;  // "terminal"
  std::string (*render)(const Comparison&, const CompareOptions&);
};

// The first is what compare prints.
std::span<const CompareFormat> compare_formats();

}
