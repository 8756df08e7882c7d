#include "userspace/controller/progress.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace iotrace {

namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::size_t kLineWidth = 79;  // one less than the narrowest terminal: never wraps

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}

Progress::Progress() : terminal_(isatty(STDERR_FILENO)) {}

void Progress::phase(std::string_view name, std::size_t parts) {
  name_ = name;
  parts_ = parts;
  started_ = std::chrono::steady_clock::now();
  drawn_ = {};
}

void Progress::show(std::size_t done, std::string_view detail) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - drawn_ < kRedraw) return;
  drawn_ = now;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  std::string line = fmt::format("{} {}/{}  {} elapsed", name_, done, parts_, clock_text(elapsed));
  if (done > 0 && done < parts_)
    line += fmt::format(", {} left",
                        clock_text(elapsed / static_cast<double>(done) * static_cast<double>(parts_ - done)));
  if (!detail.empty()) line += fmt::format("  {}", detail);
  line.resize(kLineWidth, ' ');
  fmt::print(stderr, "\r{}", line);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r{:{}}\r", "", kLineWidth);
  std::fflush(stderr);
  shown_ = false;
}

}
