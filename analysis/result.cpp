#include "analysis/result.h"

#include <cstring>

#include <fmt/format.h>

namespace iotrace {

std::string errno_name(int error_number) {
  const char* name = strerrorname_np(error_number);
  return name ? name : fmt::format("errno {}", error_number);
}

Error errno_error(std::string attempt, int error_number, std::string remedy) {
  std::string text =
      fmt::format("{}: {} ({})", attempt, errno_name(error_number),
                  strerrordesc_np(error_number) ? strerrordesc_np(error_number) : "unknown error");
  if (!remedy.empty()) text += "; " + remedy;
  bool privilege = error_number == EPERM;
  return {std::move(text), privilege ? ErrorKind::kUnsupported : ErrorKind::kFailed};
}

}
