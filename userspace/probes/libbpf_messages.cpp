#include "userspace/probes/libbpf_messages.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace iotrace {

namespace {

// libbpf calls a plain function and hands it no context: the way to the listener has to be here.
thread_local std::vector<std::string>* listener = nullptr;

int keep_warning(enum libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !listener) return 0;
  va_list measured;
  va_copy(measured, arguments);
  int length = std::vsnprintf(nullptr, 0, format, measured);
  va_end(measured);
  if (length <= 0) return 0;
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  listener->push_back(std::move(text));
  return 0;
}

// The verifier's log ends with its statistics and libbpf's closing line; the line before says what is wrong.
std::string last_line_of_log(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with("processed ") || line.starts_with("-- END")) break;
    if (!line.empty()) last = line;
  }
  return std::string(last);
}

}

LibbpfMessages::LibbpfMessages() : previous_(libbpf_set_print(keep_warning)) {
  listener = &warnings_;
}

LibbpfMessages::~LibbpfMessages() {
  listener = nullptr;
  libbpf_set_print(previous_);
}

std::string LibbpfMessages::refusal() const {
  constexpr std::string_view kLogBegins = "-- BEGIN PROG LOAD LOG --\n";
  for (const std::string& warning : warnings_) {
    std::size_t begin = warning.find(kLogBegins);
    if (begin == std::string::npos) continue;
    std::string line = last_line_of_log(std::string_view(warning).substr(begin + kLogBegins.size()));
    if (!line.empty()) return line;
  }
  if (warnings_.empty()) return {};
  std::string_view first = warnings_.front();
  constexpr std::string_view kPrefix = "libbpf: ";
  if (first.starts_with(kPrefix)) first.remove_prefix(kPrefix.size());
  return std::string(first);
}

}
