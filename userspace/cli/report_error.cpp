#include <cstdio>

#include <fmt/format.h>

#include "userspace/cli/commands.h"

namespace iotrace {

int report_error(const Error& error) {
  fmt::print(stderr, "iotrace: {}\n", error.message);
  switch (error.kind) {
  case ErrorKind::kUsage: return 2;
  case ErrorKind::kUnsupported: return 3;
  case ErrorKind::kFailed: break;
  }
  return 1;
}

}
