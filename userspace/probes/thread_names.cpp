#include "userspace/probes/thread_names.h"

#include <fstream>

#include <fmt/format.h>

namespace iotrace {

std::string thread_name(pid_t tgid, std::uint32_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/comm", tgid, tid));
  std::string name;
  return std::getline(file, name) ? name : fmt::format("thread {}", tid);
}

}
