#include "userspace/cli/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace iotrace {

bool wants_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && std::string_view(term) != "dumb";
}

}
